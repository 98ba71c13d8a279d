import { type CommandSet, firstsOf, UsageError, verbsOf } from '../commands/command-set.ts';
import { OPERATOR } from '../commands/operator.ts';
import { EXIT, type Io } from '../terminal/io.ts';
import { AGENT } from './help.ts';

/** Words that may follow, by the words before them. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  ...followers(AGENT),
  '': [...firstsOf(AGENT), 'serve', 'admin', 'help', '--help', '--version'],
  completion: ['bash', 'zsh'],
  ...followers(OPERATOR, 'admin'),
};

/** @param first further words before the commands, besides the program */
function followers(set: CommandSet, first = ''): Record<string, string[]> {
  const after = (words: string) => `${first} ${words}`.trim();
  return {
    [first]: [...firstsOf(set), '--help'],
    ...Object.fromEntries(
      Object.keys(set.groups).map((group) => [after(group), [...verbsOf(set, group), '--help']]),
    ),
    ...Object.fromEntries(
      Object.entries(set.specs).map(([name, { options = {} }]) => {
        const names = Object.keys(options).map((option) =>
          option.length === 1 ? `-${option}` : `--${option}`,
        );
        return [after(name), [...names, '--help']];
      }),
    ),
  };
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
