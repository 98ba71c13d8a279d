import { FarthingError } from './error.ts';

/** JSON that names half of a surrogate pair. Of a whole pair it names both, which is rare: they are told apart in what was parsed. */
const HALF_PAIR = /\\u[dD][89a-fA-F]/;

/**
 * Parses a client's JSON.
 * @throws SyntaxError for what is none; field_invalid for a text or name that is not well formed
 */
export function parseJson(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (HALF_PAIR.test(json)) checkWellFormed(value);
  return value;
}

/** @throws field_invalid that names the member of the object in which, at any depth, a text or name has half of a surrogate pair */
export function checkWellFormed(object: unknown): void {
  for (const [name, member] of membersOf(object)) {
    if (name.isWellFormed() && isWellFormed(member)) continue;
    const field = name.toWellFormed();
    throw new FarthingError(
      'field_invalid',
      `${field}: send whole characters. Half of a surrogate pair, such as \\ud800, is none.`,
      { facts: { field } },
    );
  }
}

/** It may be nested more deeply than calls may. */
function isWellFormed(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === 'string' && !next.isWellFormed()) return false;
    for (const [name, member] of membersOf(next)) {
      if (!name.isWellFormed()) return false;
      left.push(member);
    }
  }
  return true;
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
