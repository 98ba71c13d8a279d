import { FAMILIES } from '@farthing/protocol/family';
import type { CallOf, CommandSpec } from '../commands/command-set.ts';

const json = { json: { about: 'for programs: one JSON value a line' } } as const;
const connection = {
  server: { value: 'URL', about: 'default: FARTHING_URL, then the server used last' },
  ...json,
} as const;
const limits = {
  budget: { value: 'USD', about: 'the most that this command may spend (1; FARTHING_BUDGET_USD)' },
  'max-price': { value: 'USD', about: 'the most that one call may cost (1; FARTHING_MAX_PRICE_USD)' },
} as const;
const yes = { yes: { short: 'y', about: 'go on without asking' } } as const;
const money = {
  ...limits,
  'ask-above': { value: 'USD', about: 'ask before the command spends more (0.05)' },
  ...yes,
} as const;
const place = {
  workspace: { value: 'ID', short: 'w', about: 'use this workspace, not the current one' },
  'no-workspace': { about: 'use your wallet’s own index, paid by the call' },
} as const;
const minutes = (about: string) => ({ minutes: { value: 'N', short: 'm', about } }) as const;

/** Every command of an agent by its name, in the order of the help. */
export const SPECS = {
  search: {
    about: 'Find passages, pages and pictures in your files.',
    usage: '"WORDS"',
    words: [0, Infinity],
    options: {
      image: { value: 'FILE', short: 'i', about: 'search by a picture, alone or with words' },
      family: {
        value: 'NAME',
        short: 'f',
        multiple: true,
        about: `search in this way alone: ${FAMILIES.join(', ')}`,
      },
      k: { value: 'N', short: 'k', about: 'results at most (10)' },
      also: { value: 'WORDS', multiple: true, about: 'ask this, too, in the same call' },
      fused: { about: 'with --also: one list for all questions' },
      like: { value: 'ITEM', about: 'find what is like this item (its id), or like its page: ITEM:3' },
      order: { value: 'BY', about: 'newest first: created_at; or by a field: metadata.year' },
      ascending: { about: 'with --order: oldest, or least, first' },
      'half-life': {
        value: 'N',
        about: 'with --order: what is N days (or N of its unit) away counts half, instead of the order alone',
      },
      passages: { value: 'N', about: 'show whole passages, with N on each side' },
      'max-chars': { value: 'N', about: 'characters of all passages together, the best first' },
      name: { value: 'GLOB', multiple: true, about: 'only in files with such a name: "*.pdf"' },
      type: { value: 'TYPE', multiple: true, about: 'only in files of this type: image/*' },
      filter: { value: 'JSON', about: 'only in files that meet a filter of the API' },
      exact: { about: 'prove that nothing better is in the index' },
      'min-confidence': { value: 'P', about: 'leave out less likely results, 0 to 1 (0.02)' },
      ...connection,
      ...place,
      ...money,
    },
    examples: [
      ['search "how is the filter cleaned?"', 'by meaning and by words'],
      ['search --image photo.jpg', 'pictures like this one'],
      ['search a tabby cat -f visual', 'pictures by describing them'],
      [
        `search revenue --filter '{"metadata": {"year": {"gte": 2024}}}'`,
        'in files ingested with --meta year=2024',
      ],
      ['search \'"force majeure"\'', 'the exact phrase'],
      ['search invoice --order created_at', 'newest first'],
    ],
  },
  ingest: {
    about: 'Make files searchable.',
    usage: 'FILES…',
    words: [1, Infinity],
    options: {
      recursive: { short: 'r', about: 'take what is in folders; hidden files are left out' },
      concurrency: { value: 'N', short: 'c', about: 'files at once, 1 to 16 (4)' },
      sync: { about: 'make the workspace hold what the folder holds: remove what is gone, too' },
      meta: { value: 'NAME=VALUE', multiple: true, about: 'say this of the files; --filter asks for it' },
      again: { about: 'send what an earlier run has sent, too' },
      ...connection,
      ...place,
      ...money,
    },
    notes: ['The same command resumes after an interruption. Files that are already there cost nothing.'],
    examples: [
      ['ingest almanac.pdf', 'one file'],
      ['ingest -r photos', 'a folder; the price is shown first'],
      ['ingest --sync docs', 'sends what changed since, removes what is gone'],
    ],
  },
  'workspace create': {
    about: 'Rent a workspace and make it the current one.',
    options: {
      ...minutes('how long (15)'),
      'spend-limit': { value: 'USD', about: 'cap on its price with all extensions' },
      language: { value: 'CODE', about: 'of the texts: en, de; mul for several (by the first text)' },
      name: { value: 'NAME', about: 'with FARTHING_KEY, a key of the server’s house: what it is called' },
      ...connection,
      ...money,
    },
    notes: ['Files and searches inside are included in its price. When it expires its data is destroyed.'],
    examples: [['workspace create --minutes 60', 'for an hour']],
  },
  'workspace list': {
    about: 'The living workspaces that are remembered here; with FARTHING_KEY those that the key opens.',
    options: connection,
    examples: [['workspace list', '* marks the current one']],
  },
  'workspace use': {
    about: 'Choose the current workspace.',
    usage: 'ID [TOKEN] | none',
    words: [1, 2],
    options: connection,
    notes: ['none: your wallet’s own index, paid by the call.'],
    examples: [
      ['workspace use ws_1f…', 'one that is remembered'],
      ['workspace use ws_1f… fws_9a…', 'one from elsewhere'],
    ],
  },
  'workspace usage': {
    about: 'Time left, spend, files and searches of a workspace.',
    usage: '[ID]',
    words: [0, 1],
    options: { ...connection, workspace: place.workspace },
    examples: [['workspace usage', 'of the current one']],
  },
  'workspace extend': {
    about: 'Buy more minutes.',
    usage: '[ID]',
    words: [0, 1],
    options: {
      ...minutes('minutes to add (15)'),
      reserve: { about: 'use them when the others have run out; what is not used goes back' },
      ...connection,
      workspace: place.workspace,
      ...money,
    },
    notes: ['Minutes in reserve are paid in prepaid money: "wallet prepay" adds some.'],
    examples: [
      ['workspace extend --minutes 30', 'the current one'],
      ['workspace extend --minutes 600 --reserve', 'it lives as long as it is needed, and costs no more'],
    ],
  },
  'workspace end-reserve': {
    about: 'Take back the minutes in reserve that are not used.',
    usage: '[ID]',
    words: [0, 1],
    options: { ...connection, workspace: place.workspace },
    examples: [['workspace end-reserve', 'of the current one']],
  },
  'workspace export': {
    about: 'Write all that a workspace holds to a file, as lines of JSON.',
    usage: 'FILE',
    words: [1, 1],
    options: {
      'no-files': { about: 'texts alone, without the uploaded files: nothing to import' },
      vectors: { about: 'with the vectors of passages and pictures' },
      ...connection,
      workspace: place.workspace,
    },
    examples: [['workspace export notes.ndjson', 'the current one']],
  },
  'workspace import': {
    about: 'Upload what an export holds, with its keys and metadata.',
    usage: 'FILE',
    words: [1, 1],
    options: { ...connection, workspace: place.workspace },
    examples: [['workspace import notes.ndjson', 'into the current one']],
  },
  'workspace dispose': {
    about: 'Destroy a workspace and its files for good.',
    usage: '[ID]',
    words: [0, 1],
    options: { ...connection, workspace: place.workspace, ...yes },
    notes: ['The signed receipt of it is checked and kept in a file.'],
    examples: [['workspace dispose', 'the current one, after a question']],
  },
  'wallet new': {
    about: 'Make a wallet: the key that pays.',
    options: json,
    notes: ['The key stays in a file that only you can read (FARTHING_WALLET names another).'],
    examples: [['wallet new', '']],
  },
  'wallet show': {
    about: 'The address of your wallet.',
    options: json,
    examples: [['wallet show', '']],
  },
  'wallet balance': {
    about: 'What your wallet has prepaid at the server. Free.',
    options: connection,
    examples: [['wallet balance', '']],
  },
  'wallet prepay': {
    about: 'Pay in advance: later calls need no transaction of their own.',
    usage: 'USD',
    words: [1, 1],
    options: { ...connection, ...money },
    notes: ['What is prepaid is spent first, whatever the command. "wallet refund" has it back.'],
    examples: [['wallet prepay 1 --max-price 1', '166 searches of .006 USD']],
  },
  'wallet refund': {
    about: 'Get prepaid money back: the operator owes it to your wallet then.',
    usage: 'USD',
    words: [1, 1],
    options: connection,
    examples: [['wallet refund 0.4', '']],
  },
  mcp: {
    about: 'Serve the same as tools for an agent (MCP), over standard input and output.',
    options: { server: connection.server, ...place, ...limits },
    notes: ['It pays without asking, up to --budget in all while it runs.'],
    examples: [['mcp --budget 0.50', 'as hosts start it']],
  },
  sign: {
    about: 'Pay for a request of curl: the headers of its 402 in, the paying header out.',
    options: { 'max-price': { value: 'USD', about: 'sign nothing above it (0.1)' } },
    examples: [['sign < headers.txt', 'headers.txt: curl -s -o /dev/null -D headers.txt URL']],
  },
  completion: {
    about: 'Completion for your shell.',
    usage: 'bash | zsh',
    words: [1, 1],
    examples: [['completion bash', 'eval "$(farthing completion bash)" in ~/.bashrc']],
  },
} as const satisfies Readonly<Record<string, CommandSpec>>;

export type CommandName = keyof typeof SPECS;
/** A command as it was called. */
export type Call<Name extends CommandName> = CallOf<(typeof SPECS)[Name]>;

/** First words of commands of two words. */
export const GROUPS: Readonly<Record<string, string>> = {
  workspace: 'Rent a private index for some minutes: files and searches inside are included.',
  wallet: 'Make or show the wallet that pays.',
};
