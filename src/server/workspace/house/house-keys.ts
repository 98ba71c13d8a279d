import { randomBytes } from 'node:crypto';
import { type Clock, MINUTE_MS, toTimestamp } from '@farthing/protocol/clock';
import { FarthingError } from '@farthing/protocol/error';
import { includesRight, KEY_PREFIX, type Right } from '@farthing/protocol/house';
import type { WorkspaceId } from '@farthing/protocol/id';
import type { Store, Table } from '../../state/store.ts';
import { hashOfToken, tokenMatches } from '../records/token.ts';

/** Owner of all that the house has, in every limit and turn: one among the payers. No wallet has this name. */
export const HOUSE = 'house';

/** What a key allows. */
export interface KeyTerms {
  /** Unique; the log names the key by it. */
  readonly name: string;
  readonly may: Right;
  /** The workspaces that it opens; absent: all of the house. */
  readonly workspaces?: readonly WorkspaceId[] | undefined;
  /** Wall clock, in milliseconds; absent: until it is revoked. */
  readonly expiresAt?: number | undefined;
  /** Requests in a minute; absent: only the limits of each workspace. */
  readonly perMinute?: number | undefined;
}

/** A key as it is stored: its SHA-256 alone. */
interface KeyRow extends KeyTerms {
  readonly hash: string;
  readonly createdAt: number;
}

/** A key as the operator sees it. Times are RFC 3339. */
export interface ShownKey {
  readonly name: string;
  readonly may: Right;
  readonly workspaces: readonly WorkspaceId[] | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly per_minute: number | null;
}

export interface HouseKeysDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: (event: object) => void;
  /** Milliseconds from any origin, never going back. */
  readonly monotonic?: () => number;
}

/** The part of a key that finds its row is no secret; the rest has 256 random bits. */
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const FORM = new RegExp(`^${KEY_PREFIX}([0-9a-f]{${2 * ID_BYTES}})_[A-Za-z0-9_-]{43}$`);
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const KEYS_MAX = 1000;

/**
 * The keys of the operator's own agents. All are in memory, so that a request sees a revocation that was answered before it, and pays
 * nothing for a look-up.
 */
export class HouseKeys {
  readonly #deps: HouseKeysDeps;
  readonly #table: Table<KeyRow>;
  readonly #rows: Map<string, KeyRow>;
  /** The current minute of each key that has a limit. */
  readonly #minutes = new Map<KeyTerms, { readonly since: number; count: number }>();

  constructor(deps: HouseKeysDeps) {
    this.#deps = deps;
    this.#table = deps.store.table('house_keys');
    this.#rows = new Map(Array.from(this.#table.range(), ({ key, value }) => [key, value]));
  }

  /** @returns the key, which nothing shows again. @throws field_invalid for a name that is none, or taken */
  async create(terms: KeyTerms): Promise<string> {
    const { name } = terms;
    if (!NAME.test(name))
      throw new FarthingError(
        'field_invalid',
        `NAME: use 1 to 64 letters, digits, dots, dashes and underscores, not ${JSON.stringify(name)}.`,
      );
    const id = randomBytes(ID_BYTES).toString('hex');
    const key = `${KEY_PREFIX}${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const row: KeyRow = { ...terms, hash: hashOfToken(key), createdAt: this.#deps.clock.now() };
    await this.#deps.store.transaction(() => {
      const names = Array.from(this.#table.range(), ({ value }) => value.name);
      if (names.includes(name))
        throw new FarthingError('field_invalid', `There is a key ${name}: revoke it, or take another name.`);
      if (names.length >= KEYS_MAX)
        throw new FarthingError('field_invalid', `There are ${KEYS_MAX} keys: revoke some.`);
      void this.#table.put(id, row);
    });
    this.#rows.set(id, row);
    this.#deps.log({ event: 'house_key_created', key: name, may: terms.may });
    return key;
  }

  /** From this call on it opens nothing, even if the disk then refuses to forget it. @throws not_found */
  async revoke(name: string): Promise<void> {
    const [id, row] = [...this.#rows].find(([, each]) => each.name === name) ?? [];
    if (id === undefined || !row) throw new FarthingError('not_found', `There is no key ${name}.`);
    this.#rows.delete(id);
    this.#minutes.delete(row);
    await this.#table.remove(id);
    this.#deps.log({ event: 'house_key_revoked', key: name });
  }

  /** In order of their names, those that have expired among them. */
  list(): ShownKey[] {
    return [...this.#rows.values()]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, may, workspaces, createdAt, expiresAt, perMinute }) => ({
        name,
        may,
        workspaces: workspaces ?? null,
        created_at: toTimestamp(createdAt),
        expires_at: expiresAt === undefined ? null : toTimestamp(expiresAt),
        per_minute: perMinute ?? null,
      }));
  }

  /** The key that a bearer token is; undefined for one that is unknown, revoked or expired. Compares hashes in constant time. */
  of(token: string | undefined): KeyTerms | undefined {
    const id = FORM.exec(token ?? '')?.[1];
    if (id === undefined) return undefined;
    const row = this.#rows.get(id);
    if (!tokenMatches(token, row?.hash) || !row) return undefined;
    return row.expiresAt === undefined || this.#deps.clock.now() < row.expiresAt ? row : undefined;
  }

  /** Counts a request. @throws rate_limited; refused requests do not count */
  admit(key: KeyTerms): void {
    const { name, perMinute } = key;
    if (perMinute === undefined) return;
    const now = (this.#deps.monotonic ?? (() => performance.now()))();
    const begun = this.#minutes.get(key);
    const minute = begun && now - begun.since < MINUTE_MS ? begun : { since: now, count: 0 };
    if (minute.count >= perMinute) {
      const retryAfterS = Math.max(1, Math.ceil((minute.since + MINUTE_MS - now) / 1000));
      throw new FarthingError(
        'rate_limited',
        `The key ${name} has had its ${perMinute} requests of this minute. Wait ${retryAfterS} s and try again.`,
        { retryAfterS },
      );
    }
    minute.count += 1;
    this.#minutes.set(key, minute);
  }
}

/** Whether a key opens a workspace of the house. */
export function opens({ workspaces }: KeyTerms, id: WorkspaceId): boolean {
  return workspaces?.includes(id) ?? true;
}

/** @throws right_missing */
export function mustMay({ name, may }: KeyTerms, needed: Right): void {
  if (includesRight(may, needed)) return;
  throw new FarthingError(
    'right_missing',
    `This needs the right ${needed}, and the key ${name} may ${may}. The operator makes keys with other rights.`,
    { facts: { may, needed } },
  );
}

/** For requests that name no workspace. The same for a key that is missing, malformed, unknown, revoked or expired. */
export function keyUnauthorized(): FarthingError {
  return new FarthingError(
    'key_unauthorized',
    `Send a key of this server’s house as "Authorization: Bearer ${KEY_PREFIX}…". Its operator makes keys.`,
  );
}
