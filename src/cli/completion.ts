import { EXIT, type Io, UsageError } from './io.ts';

/** Words that may follow, by what stands before. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  '': [
    'search',
    'ingest',
    'workspace',
    'wallet',
    'mcp',
    'sign',
    'completion',
    'doctor',
    'models',
    'keys',
    'workspaces',
    'receipt',
    'backup',
    'restore',
    'ledger',
  ],
  search: ['--image', '--family', '-k', '--exact'],
  ingest: ['--recursive', '--concurrency', '--again'],
  workspace: ['create', 'use', 'list', 'usage', 'extend', 'dispose', '--minutes', '--spend-limit'],
  wallet: ['new', 'show'],
  completion: ['bash', 'zsh'],
  mcp: [],
  sign: [],
  workspaces: ['list', 'show', 'dispose'],
  receipt: ['verify'],
  ledger: ['export'],
};
const COMMON = '--server --json --budget --max-price --ask-above --yes --workspace --no-workspace --help';

/** `completion bash|zsh`: a script to be sourced by the shell. */
export function completionCommand([shell, ...rest]: readonly string[], io: Io): number {
  if (rest.length > 0 || (shell !== 'bash' && shell !== 'zsh'))
    throw new UsageError('Use completion bash or completion zsh.');
  io.write(shell === 'bash' ? BASH : ZSH);
  return EXIT.done;
}

/** One case of the shell's `case` for each command. */
const casesOf = (assign: (words: string) => string) =>
  Object.entries(WORDS)
    .filter(([command]) => command !== '')
    .map(([command, words]) => `    ${command}) ${assign([...words, COMMON].join(' '))} ;;`)
    .join('\n');

const BASH = `_farthing() {
  local word=\${COMP_WORDS[COMP_CWORD]} words=''
  if [ "$COMP_CWORD" -eq 1 ]; then words='${WORDS['']!.join(' ')}'; else case \${COMP_WORDS[1]} in
${casesOf((words) => `words='${words}'`)}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _farthing farthing
`;

const ZSH = `_farthing() {
  local -a known
  if (( CURRENT == 2 )); then known=(${WORDS['']!.join(' ')}); else case \${words[2]} in
${casesOf((words) => `known=(${words})`)}
  esac; fi
  compadd -- $known
  (( CURRENT == 2 )) || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _farthing farthing
`;
