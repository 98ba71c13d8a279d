import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './packages/packing.ts';

/** How the words of a script's command line are read: the same for all of them, before they do anything. */

export interface Usage {
  /** What follows `node scripts/`. */
  readonly command: string;
  readonly does: string;
  /** How many words it takes, beside options: 0 unless it is said. */
  readonly least?: number;
  readonly most?: number;
  readonly flags?: readonly string[];
}

interface Words {
  readonly words: readonly string[];
  readonly flags: ReadonlySet<string>;
}

/** Ends the process with 0 for `--help`, with 2 for what the script does not take. */
export function readWords({ command, does, least = 0, most = 0, flags = [] }: Usage): Words {
  const help = `node scripts/${command}\n\n${does}`;
  const named = ['help', ...flags].map((name) => [name, { type: 'boolean' as const }] as const);
  try {
    const { values, positionals } = parseArgs({
      options: { ...Object.fromEntries(named), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help) {
      console.log(help);
      process.exit(0);
    }
    if (positionals.length < least) throw new Error('A word is missing.');
    if (positionals.length > most) throw new Error(`It takes no "${positionals[most]}".`);
    return { words: positionals, flags: new Set(Object.keys(values)) };
  } catch (error) {
    // Node adds how to write what begins with a dash.
    console.error(`${(error as Error).message.split('. ', 1)[0]!.replace(/\.?$/, '.')}\n\n${help}`);
    process.exit(2);
  }
}

/** The one folder that a script may be given. @param otherwise below the tree */
export function readFolder(usage: Usage, otherwise: string): string {
  const [folder] = readWords({ ...usage, most: 1 }).words;
  return resolve(ROOT, folder === undefined ? otherwise : resolve(folder));
}
