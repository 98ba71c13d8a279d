import { hash } from 'node:crypto';

/** The validated body of a request, after defaults and clamping, without unknown fields. */
export type IdentityBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | {
      readonly kind: 'multipart';
      readonly fields: Readonly<Record<string, string | undefined>>;
      /** SHA-256 in hexadecimal of each file's bytes, and the name it was sent under. */
      readonly files: readonly { readonly field: string; readonly name: string; readonly sha256: string }[];
    };

export interface RequestIdentity {
  readonly method: string;
  readonly path: string;
  /** Query string without its question mark; empty when there is none. */
  readonly query: string;
  readonly body: IdentityBody;
}

/** SHA-256 (hexadecimal) of what makes two requests the same one: order, white space, and null or absent don't matter. */
export function requestHash({ method, path, query, body }: RequestIdentity): string {
  const identity = JSON.stringify([method.toUpperCase(), path, query, body.kind, canonicalBody(body)]);
  return hash('sha256', identity);
}

function canonicalBody(body: IdentityBody): unknown {
  if (body.kind === 'none') return null;
  if (body.kind === 'json') return canonical(body.value);
  const files = body.files.map(({ field, name, sha256 }) => [field, name, sha256.toLowerCase()]);
  return [canonical(body.fields), files.sort(([a], [b]) => (a! < b! ? -1 : a! > b! ? 1 : 0))];
}

/** The same JSON with keys in order of their code units and without members that are null or absent. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [`.${name}`, canonical(member)]),
  );
}
