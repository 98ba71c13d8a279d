import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { behind } from '../stores/kv.ts';

const Node = Type.Object({
  /** URL for the other servers, without a slash at the end. */
  url: Type.String(),
  /** Version of Farthing. */
  version: Type.String(),
  /** Its share of the slots, beside those of the others. */
  weight: Type.Number({ minimum: 0 }),
  /** RFC 3339: when it joined. */
  since: Type.String(),
  /** It answers: false while it starts. */
  ready: Type.Boolean(),
  /** Slots that it could not open: others are to have them, if any can. */
  unable: Type.Optional(Type.Array(Type.Integer())),
  /** How its models differ from the cluster's: it takes no slots. */
  models_differ: Type.Optional(Type.String()),
});

const Known = Type.Object({ url: Type.String(), since: Type.String() });

const Format = Type.Object({ min: Type.Integer(), max: Type.Integer() });

const Drain = Type.Object({ since: Type.String() });

const Owner = Type.Object({ node: Type.String() });

const Copy = Type.Object({ since: Type.String() });

const Backup = Type.Object({ at: Type.Integer() });

/** A server that lives, as it tells of itself: on its lease. */
export type NodeRow = Static<typeof Node>;

/** A server that has joined once, and may be away: stays until it is forgotten. `since`: when it joined last. */
export type KnownRow = Static<typeof Known>;

/** The first and the last format of the cluster's rows that a server which has joined reads and writes: stays until it is forgotten. */
export type FormatRow = Static<typeof Format>;

/** A server that is to have no slots. `since`: when that was wanted. */
export type DrainRow = Static<typeof Drain>;

/** A node whose disk may have content of a slot's Tenants. `since`: when it took the slot last. */
export type CopyRow = Static<typeof Copy>;

/** The node that has a slot. */
export type OwnerRow = Static<typeof Owner>;

/** The last backup of the whole cluster. `at`: when it was begun, in milliseconds since the epoch. */
export type BackupRow = Static<typeof Backup>;

/** A row is not what this Farthing knows by its name. */
export class RowMalformedError extends Error {}

/** Rows of one kind below `/farthing/<cluster>/`, each under a name. */
export interface RowKind<Row> {
  key(cluster: string, name: string): string;
  /** Range of all keys: `from` <= key < `to`. */
  range(cluster: string): { readonly from: string; readonly to: string };
  /** Name in a key of this kind. */
  name(cluster: string, key: string): string;
  format(row: Row): Uint8Array;
  /** Fields that a newer version has added are ignored. @param key named in the error @throws RowMalformedError */
  parse(key: string, value: Uint8Array): Row;
}

/** `node/<node id>` */
export const NODE_ROWS: RowKind<NodeRow> = rowKind('node', Node);
/** `known/<node id>` */
export const KNOWN_ROWS: RowKind<KnownRow> = rowKind('known', Known);
/** `format/<node id>` */
export const FORMAT_ROWS: RowKind<FormatRow> = rowKind('format', Format);
/** `drain/<node id>` */
export const DRAIN_ROWS: RowKind<DrainRow> = rowKind('drain', Drain);
/** `copy/<slot>/<node id>` */
export const COPY_ROWS: RowKind<CopyRow> = rowKind('copy', Copy);
/** `owner/<slot>` */
export const OWNER_ROWS: RowKind<OwnerRow> = rowKind('owner', Owner);
/** `backup/last`, and no other */
export const BACKUP_ROWS: RowKind<BackupRow> = rowKind('backup', Backup);

function rowKind<Schema extends TSchema>(kind: string, schema: Schema): RowKind<Static<Schema>> {
  const prefix = (cluster: string) => `/farthing/${cluster}/${kind}/`;
  return {
    key: (cluster, name) => `${prefix(cluster)}${name}`,
    range: (cluster) => ({ from: prefix(cluster), to: behind(prefix(cluster)) }),
    name: (cluster, key) => key.slice(prefix(cluster).length),
    format: (row) => Buffer.from(JSON.stringify(row)),
    parse: (key, value) => {
      const row = jsonOf(value);
      if (!Value.Check(schema, row)) throw new RowMalformedError(`${key} is not what it should be`);
      return row as Static<Schema>;
    },
  };
}

function jsonOf(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value).toString());
  } catch {
    return undefined;
  }
}
