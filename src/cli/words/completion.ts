import { EXIT, type Io, UsageError } from '../terminal/io.ts';
import { COMMAND_NAMES, type CommandSpec, GROUPS, SPECS, verbsOf } from './specs.ts';

/** The operator's commands, which live elsewhere. A test compares them with these. */
const ADMIN_WORDS = {
  admin: [
    'workspaces',
    'receipt',
    'keys',
    'backup',
    'restore',
    'cluster',
    'ledger',
    'prepaid',
    'models',
    'settings',
    'doctor',
    '--help',
  ],
  'admin workspaces': ['list', 'show', 'dispose'],
  'admin receipt': ['verify'],
  'admin keys': ['rotate'],
  'admin cluster': [
    'import',
    'status',
    'drain',
    'forget',
    'finish-upgrade',
    'forget-models',
    'books',
    'backup',
    '--undo',
  ],
  'admin ledger': ['export', 'reconcile', 'refunded', '--format', '--since'],
  'admin prepaid': ['list', 'refunded'],
  'admin models': ['list', 'pull', 'verify', 'use', '--offline'],
  'admin doctor': ['--json', '--pay'],
} as const;

/** Words that may follow, by the words before them. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  '': [
    ...new Set(COMMAND_NAMES.map((name) => name.split(' ')[0]!)),
    'serve',
    'admin',
    'help',
    '--help',
    '--version',
  ],
  ...Object.fromEntries(Object.keys(GROUPS).map((group) => [group, [...verbsOf(group), '--help']])),
  ...Object.fromEntries(COMMAND_NAMES.map((name) => [name, optionsOf(SPECS[name])])),
  completion: ['bash', 'zsh'],
  ...ADMIN_WORDS,
};

function optionsOf({ options }: CommandSpec): string[] {
  const names = Object.keys(options).map((name) => (name.length === 1 ? `-${name}` : `--${name}`));
  return [...names, '--help'];
}

/** `completion bash|zsh`: a script to be sourced by the shell. */
export function completionCommand([shell = '']: readonly string[], io: Io): number {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new UsageError(`There is no completion for "${shell}": farthing completion bash, or zsh.`);
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
