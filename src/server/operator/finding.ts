import type { Finding } from '@farthing/protocol/schema/operator';

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found });
export const warning = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: 'warning',
  found,
  remedy,
});
export const problem = (check: string, found: string, remedy: string): Finding => ({
  check,
  state: 'problem',
  found,
  remedy,
});

const STATE_COLUMNS = 8;
const CHECK_COLUMNS = 28;

/** The findings, a line each, with the remedy below. */
export function screenOf(findings: readonly Finding[]): string {
  return findings
    .map(({ check, state, found, remedy }) => {
      const line = `${state.padEnd(STATE_COLUMNS)} ${check.padEnd(CHECK_COLUMNS)} ${found}\n`;
      const indent = ' '.repeat(STATE_COLUMNS + CHECK_COLUMNS + 2);
      return remedy === undefined ? line : `${line}${indent}→ ${remedy}\n`;
    })
    .join('');
}
