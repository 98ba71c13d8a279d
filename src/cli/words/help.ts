import { type CommandSet, firstsOf } from '../commands/command-set.ts';
import { paragraphs, titled, wrapped } from '../commands/help.ts';
import { type CommandName, GROUPS, SPECS } from './specs.ts';

/** Every command of an agent. */
export const AGENT: CommandSet<typeof SPECS> = {
  program: 'farthing',
  specs: SPECS,
  groups: GROUPS,
  synonyms: { upload: 'ingest', add: 'ingest', index: 'ingest', find: 'search', query: 'search' },
  others: ['serve', 'admin'],
  help: mainHelp,
};

const FIRST_STEPS = [
  ['farthing wallet new', 'make the key that pays; play money needs nothing more'],
  ['farthing ingest almanac.pdf', 'make a file searchable'],
  ['farthing search "how do bees talk?"', 'find it'],
  ['farthing workspace create', 'or rent a private index: files and searches are included'],
] as const;

const EXIT_CODES = [
  ['0', 'done'],
  ['1', 'failed'],
  ['2', 'wrong use, or no terminal to confirm a price on'],
  ['3', 'refused by the server'],
  ['4', 'not paid: budget, price, declined, refused'],
  ['5', 'server unreachable, or its answer lost'],
  ['6', 'some files were refused'],
  ['130', 'interrupted'],
] as const;

/** `farthing --help`: what a person does first, then the rest. */
function mainHelp(columns: number | undefined): string {
  const commands = firstsOf(AGENT).map(
    (first) => [first, GROUPS[first] ?? SPECS[first as CommandName].about] as const,
  );
  return paragraphs([
    wrapped(
      'Search your own files. Pay by the call, or rent a workspace. With FARTHING_KEY, a key of the server’s house, nothing is paid.',
      columns,
    ),
    titled('First steps', FIRST_STEPS, columns),
    titled(
      'Commands',
      [
        ...commands,
        ['serve', 'Start a server here, with its data in ./data.'],
        ['admin', 'The operator’s commands: farthing admin --help.'],
      ],
      columns,
    ),
    wrapped('farthing COMMAND --help explains one. farthing --version says which this is.', columns),
    titled('Exit codes', EXIT_CODES, columns),
  ]);
}
