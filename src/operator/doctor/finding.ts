/** What one check found. A `problem` keeps the server from working as configured; a `warning` is worth knowing. */
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
