/** What a key of the house may do. Each right includes those before it. */
export const RIGHTS = ['read', 'write', 'admin'] as const;
export type Right = (typeof RIGHTS)[number];

/** Whether a key with one right may do what needs another. */
export function includesRight(has: Right, needed: Right): boolean {
  return RIGHTS.indexOf(has) >= RIGHTS.indexOf(needed);
}

/** Begins every key: recognisable to people and to scanners for leaked secrets. */
export const KEY_PREFIX = 'fhk_';

/** Whether a bearer token is meant as a key of the house. It may be none that a server knows. */
export function isHouseKey(token: string | undefined): token is string {
  return token?.startsWith(KEY_PREFIX) ?? false;
}
