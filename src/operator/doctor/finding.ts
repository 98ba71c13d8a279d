/** Result of one check. With a `problem` the server does not work as configured; a `warning` is worth knowing. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy?: string;
}

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
