import { COMMAND_NAMES, type CommandName, EXIT, type Io, UsageError, WORKSPACE_VERBS } from './io.ts';

/** Options that every command of an agent takes. */
const COMMON = [
  '--server',
  '--json',
  '--budget',
  '--max-price',
  '--ask-above',
  '--yes',
  '--workspace',
  '--no-workspace',
  '--help',
];

/** Words that may follow, by the words before them. A test compares those of an operator with the commands. */
export const WORDS: Readonly<Record<'' | CommandName | 'admin' | `admin ${string}`, readonly string[]>> = {
  '': [...COMMAND_NAMES, 'admin'],
  search: ['--image', '--family', '-k', '--exact', '--min-confidence', ...COMMON],
  ingest: ['--recursive', '--concurrency', '--again', ...COMMON],
  workspace: [...WORKSPACE_VERBS, '--minutes', '--spend-limit', ...COMMON],
  wallet: ['new', 'show', ...COMMON],
  completion: ['bash', 'zsh'],
  mcp: COMMON,
  sign: COMMON,
  admin: [
    'workspaces',
    'receipt',
    'keys',
    'backup',
    'restore',
    'ledger',
    'models',
    'settings',
    'doctor',
    '--help',
  ],
  'admin workspaces': ['list', 'show', 'dispose'],
  'admin receipt': ['verify'],
  'admin keys': ['rotate'],
  'admin ledger': ['export', '--format', '--since'],
  'admin models': ['list', 'pull', 'verify', 'use', '--offline'],
  'admin doctor': ['--json'],
};

/** `completion bash|zsh`: a script to be sourced by the shell. */
export function completionCommand([shell, ...rest]: readonly string[], io: Io): number {
  if (rest.length > 0 || (shell !== 'bash' && shell !== 'zsh'))
    throw new UsageError('Use completion bash or completion zsh.');
  io.write(shell === 'bash' ? BASH : ZSH);
  return EXIT.done;
}

/** Cases of the shell's `case` over the words before the cursor; the longer one first. */
function casesOf(assign: (words: string) => string): string {
  return Object.entries(WORDS)
    .toSorted(([a], [b]) => b.length - a.length)
    .map(([before, words]) => {
      const pattern = before === '' ? "''" : `'${before}'|'${before} '*`;
      return `    ${pattern}) ${assign(words.join(' '))} ;;`;
    })
    .join('\n');
}

const BASH = `_farthing() {
  local word=\${COMP_WORDS[COMP_CWORD]} before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" words=''
  case $before in
${casesOf((words) => `words='${words}'`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _farthing farthing
`;

const ZSH = `_farthing() {
  local -a known
  local before="\${(j: :)words[2,CURRENT-1]}"
  case $before in
${casesOf((words) => `known=(${words})`)}
  esac
  compadd -- $known
  (( CURRENT == 2 )) || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _farthing farthing
`;
