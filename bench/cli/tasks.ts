import { join } from 'node:path';

/** One task of a person at a terminal. */
export interface Task {
  readonly name: string;
  readonly words: readonly string[];
  /** What is typed when the terminal has shown something. */
  readonly replies?: readonly (readonly [to: RegExp, typed: string])[];
  /** Another server than the one that runs. */
  readonly server?: string;
}

const CTRL_C = '\u0003';

/** A day with the commands, in order: each builds on those before. @param files folder with files, some of which cannot be read */
export function tasksFor(files: string, samples: string): readonly Task[] {
  const picture = join(samples, 'rocket.jpg');
  return [
    { name: 'help', words: ['--help'] },
    { name: 'help of search', words: ['search', '--help'] },
    { name: 'help of workspaces', words: ['workspace'] },
    { name: 'slip in a command', words: ['serach', 'gulls'] },
    { name: 'slip in an option', words: ['ingest', '--recusive', files] },
    { name: 'no wallet yet', words: ['ingest', join(samples, 'tea.txt')] },
    { name: 'wallet', words: ['wallet', 'new'] },
    { name: 'nothing there yet', words: ['search', 'gulls'] },
    { name: 'one file', words: ['ingest', join(samples, 'tea.txt')] },
    { name: 'folder that costs, no', words: ['ingest', '-r', files], replies: [[/\[y\/N\]/, 'n\n']] },
    {
      name: 'workspace for a price, yes',
      words: ['workspace', 'create', '--minutes', '120'],
      replies: [[/\[y\/N\]/, 'y\n']],
    },
    {
      name: 'folder, interrupted',
      words: ['ingest', '-r', files, '-c', '1'],
      replies: [[/ [3-9] of /, CTRL_C]],
    },
    { name: 'folder, goes on', words: ['ingest', '-r', files] },
    { name: 'search by words', words: ['search', 'why does sourdough rise?', '-k', '4'] },
    { name: 'search with a slip', words: ['search', 'lightouse'] },
    { name: 'search by picture', words: ['search', '--image', picture, '-k', '3'] },
    { name: 'what is not there', words: ['search', 'marginal tax rate in Portugal'] },
    { name: 'usage', words: ['workspace', 'usage'] },
    { name: 'extend', words: ['workspace', 'extend', '--minutes', '10'] },
    { name: 'list', words: ['workspace', 'list'] },
    { name: 'destroy', words: ['workspace', 'dispose'], replies: [[/\[y\/N\]/, 'y\n']] },
    { name: 'after its end', words: ['search', 'gulls'] },
    { name: 'server away', words: ['search', 'gulls'], server: 'http://127.0.0.1:1' },
  ];
}
