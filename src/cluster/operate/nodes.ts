import { UsageError } from '@farthing/cli/commands/command-set';
import { toTimestamp } from '@farthing/protocol/clock';
import { rootCause } from '@farthing/protocol/error';
import { type CommandIo, EXIT, settingsOf } from '@farthing/server/operator/io';
import type { Settings } from '@farthing/server/settings/settings';
import { forgetModels } from '../members/agreed-models.ts';
import { raiseFormat, readUpgrade, type Upgrade } from '../members/cluster-config.ts';
import {
  COPY_ROWS,
  type CopyRow,
  DRAIN_ROWS,
  type DrainRow,
  FORMAT_ROWS,
  type FormatRow,
  KNOWN_ROWS,
  type KnownRow,
  NODE_ROWS,
  type NodeRow,
  OWNER_ROWS,
  type OwnerRow,
  type RowKind,
} from '../members/node-rows.ts';
import type { Etcd } from '../stores/etcd.ts';
import type { KvRow } from '../stores/kv.ts';
import { clusterName, namedEtcd } from '../stores/named-stores.ts';

/** Prints a line for each server of the cluster, and problems of its slots. @throws UsageError, Error with what to do */
export function showCluster(io: CommandIo): Promise<number> {
  return withRows(io, async ({ rows, cluster, etcd }) => {
    const upgrade = mustHaveBooks(await readUpgrade(etcd, cluster), cluster);
    const { config } = upgrade;
    writeNodes(rows, io);
    const free = Array.from({ length: config.slots }, (_, slot) => String(slot)).filter(
      (slot) => !rows.owners.has(slot),
    );
    const lacking = free.length === 0 ? '' : `; nobody has ${free.join(', ')}`;
    io.write(`\n${config.slots} slots, format ${config.format}${lacking}\n`);
    for (const [id, { unable = [] }] of rows.nodes)
      if (unable.length > 0) io.write(`${id} could not open ${unable.join(', ')}; its log says why.\n`);
    for (const [id, { models_differ: how }] of rows.nodes)
      if (how !== undefined) io.write(`${id} takes no slots: ${how}.\n`);
    if (upgrade.possible !== undefined)
      io.write(
        `Every server knows format ${upgrade.possible}: "farthing admin cluster finish-upgrade" raises it.\n`,
      );
    if (upgrade.behind.size > 0) io.write(`Format ${upgrade.newest} waits for ${behindIn(upgrade)}.\n`);
    return EXIT.done;
  });
}

/** Has a server give its slots away and take none. @param undo has it take slots again @throws UsageError, Error with what to do */
export function drainNode(id: string, undo: boolean, io: CommandIo): Promise<number> {
  return withRows(io, async ({ rows, cluster, etcd }) => {
    mustBeKnown(id, rows, cluster);
    const key = DRAIN_ROWS.key(cluster, id);
    if (undo) {
      await remove(etcd, [key]);
      io.write(`${id} takes slots again.\n`);
      return EXIT.done;
    }
    const others = [...rows.nodes.keys()].filter((other) => other !== id && !rows.drains.has(other));
    if (rows.nodes.has(id) && others.length === 0)
      throw new Error(`No other server would take the slots of ${id}: start one first.`);
    if (!rows.drains.has(id)) {
      const value = DRAIN_ROWS.format({ since: toTimestamp(Date.now()) });
      await etcd.commit({ when: [], puts: [{ key, value }] });
    }
    io.write(
      `${id} gives its slots away. Stop it once "farthing admin cluster status" shows none; it takes slots again after "farthing admin cluster drain ${id} --undo".\n`,
    );
    return EXIT.done;
  });
}

/** Forgets a server that is away. @throws UsageError, Error with what to do */
export function forgetNode(id: string, io: CommandIo): Promise<number> {
  return withRows(io, async ({ rows, cluster, etcd }) => {
    mustBeKnown(id, rows, cluster);
    if (rows.nodes.has(id)) throw new Error(`${id} lives: stop it first.`);
    if (slotsOf(id, rows) > 0)
      throw new Error(
        `${id} has slots, and no other server may take them: start it again, and stop it then.`,
      );
    const copies = [...(await rowsOf(etcd, cluster, COPY_ROWS)).keys()]
      .filter((name) => name.slice(name.indexOf('/') + 1) === id)
      .map((name) => COPY_ROWS.key(cluster, name));
    await remove(etcd, copies);
    await remove(
      etcd,
      [KNOWN_ROWS, DRAIN_ROWS, FORMAT_ROWS].map((kind) => kind.key(cluster, id)),
    );
    const rest = copies.length === 0 ? '' : ' Its disk may have files of workspaces: destroy it.';
    io.write(`${id} is forgotten.${rest} It is known again as soon as it starts.\n`);
    return EXIT.done;
  });
}

/** The next server that starts decides on the cluster's models. @throws UsageError, Error with what to do */
export function forgetClusterModels(io: CommandIo): Promise<number> {
  return withRows(io, async ({ cluster, etcd }) => {
    await forgetModels(etcd, cluster);
    io.write(
      `The next server that starts decides on the models of ${cluster}. Servers that run keep theirs until they start again.\n`,
    );
    return EXIT.done;
  });
}

/** Raises the format of the cluster's rows to the highest that all servers know. @throws UsageError, Error with what to do */
export function finishUpgrade(io: CommandIo): Promise<number> {
  return withRows(io, async ({ cluster, etcd }) => {
    const before = mustHaveBooks(await readUpgrade(etcd, cluster), cluster);
    const upgrade = mustHaveBooks(await raiseFormat(etcd, cluster), cluster);
    const { format } = upgrade.config;
    if (format > before.config.format)
      io.write(`The cluster ${cluster} has format ${format} now: servers that do not know it cannot join.\n`);
    if (upgrade.behind.size > 0)
      throw new Error(
        `Format ${upgrade.newest} waits for ${behindIn(upgrade)}: start it with the newer Farthing, or "farthing admin cluster forget" it.`,
      );
    if (format === before.config.format)
      io.write(`The cluster ${cluster} has format ${format}, the highest that its servers know.\n`);
    return EXIT.done;
  });
}

function mustHaveBooks(upgrade: Upgrade | undefined, cluster: string): Upgrade {
  if (!upgrade) throw new Error(`The cluster ${cluster} has no books yet: start a server with it.`);
  return upgrade;
}

/** The servers that do not know the newest format. */
function behindIn({ behind }: Upgrade): string {
  return Array.from(behind, ([id, max]) => `${id} (knows ${max})`).join(', ');
}

/** The cluster's rows about its servers, by their ids; owners by their slots. */
interface Rows {
  readonly nodes: ReadonlyMap<string, NodeRow>;
  readonly known: ReadonlyMap<string, KnownRow>;
  readonly formats: ReadonlyMap<string, FormatRow>;
  readonly drains: ReadonlyMap<string, DrainRow>;
  readonly owners: ReadonlyMap<string, OwnerRow>;
  /** Named `<slot>/<node id>`. */
  readonly copies: ReadonlyMap<string, CopyRow>;
}

interface Cluster {
  readonly rows: Rows;
  readonly cluster: string;
  readonly etcd: Etcd;
}

/** @throws UsageError without FARTHING_CLUSTER */
export async function withEtcd<T>(
  settings: Settings,
  work: (etcd: Etcd, cluster: string) => Promise<T>,
): Promise<T> {
  if (settings.CLUSTER === '') throw new UsageError('Set FARTHING_CLUSTER: it names the cluster.');
  const etcd = await namedEtcd(settings);
  try {
    return await work(etcd, clusterName(settings));
  } finally {
    etcd.close();
  }
}

function withRows(io: CommandIo, work: (cluster: Cluster) => Promise<number>): Promise<number> {
  return withEtcd(settingsOf(io), async (etcd, cluster) => {
    const rows = {
      nodes: await rowsOf(etcd, cluster, NODE_ROWS),
      known: await rowsOf(etcd, cluster, KNOWN_ROWS),
      formats: await rowsOf(etcd, cluster, FORMAT_ROWS),
      drains: await rowsOf(etcd, cluster, DRAIN_ROWS),
      owners: await rowsOf(etcd, cluster, OWNER_ROWS),
      copies: await rowsOf(etcd, cluster, COPY_ROWS),
    };
    return work({ rows, cluster, etcd });
  });
}

/** @throws Error for an etcd that does not answer, or refuses; RowMalformedError */
async function rowsOf<Row>(
  etcd: Etcd,
  cluster: string,
  kind: RowKind<Row>,
): Promise<ReadonlyMap<string, Row>> {
  const { from, to } = kind.range(cluster);
  const found: KvRow[] = await etcd.range(from, to).catch((error: unknown) => {
    throw new Error(`FARTHING_CLUSTER: ${rootCause(error)}`);
  });
  return new Map(found.map(({ key, value }) => [kind.name(cluster, key), kind.parse(key, value)]));
}

async function remove(etcd: Etcd, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += DELETES_MAX) {
    const deletes = keys.slice(from, from + DELETES_MAX).map((key) => ({ from: key, to: `${key}\0` }));
    await etcd.commit({ when: [], deletes });
  }
}

function mustBeKnown(id: string, rows: Rows, cluster: string): void {
  if (idsIn(rows).includes(id)) return;
  throw new Error(
    `The cluster ${cluster} has no server ${id}: "farthing admin cluster status" lists them. FARTHING_NODE_ID names each.`,
  );
}

function idsIn({ nodes, known, formats, drains, owners }: Rows): string[] {
  const ids = [nodes, known, formats, drains].flatMap((rows) => [...rows.keys()]);
  return [...new Set([...ids, ...[...owners.values()].map(({ node }) => node)])].sort();
}

function slotsOf(id: string, { owners }: Rows): number {
  return [...owners.values()].filter(({ node }) => node === id).length;
}

/** Number of slots of others of which a server that lives may have a copy. */
function followedBy(id: string, { owners, copies }: Rows): number {
  return [...copies.keys()]
    .map((name) => name.split('/', 2))
    .filter(([slot, node]) => node === id && owners.get(slot!)?.node !== id).length;
}

/** Maximum per transaction of etcd. */
const DELETES_MAX = 128;

const HEAD = ['server', 'state', 'slots', 'follows', 'weight', 'version', 'since', 'url'];

function writeNodes(rows: Rows, io: CommandIo): void {
  const lines = idsIn(rows).map((id) => {
    const row = rows.nodes.get(id);
    const { url = '-', since = '-' } = row ?? rows.known.get(id) ?? {};
    const [weight, version] = row ? [String(row.weight), row.version] : ['-', '-'];
    const follows = row ? String(followedBy(id, rows)) : '-';
    return [id, stateOf(id, rows), String(slotsOf(id, rows)), follows, weight, version, since, url];
  });
  const table = [HEAD, ...lines];
  const widths = HEAD.map((_, column) => Math.max(...table.map((cells) => cells[column]!.length)));
  for (const cells of table)
    io.write(
      `${cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    );
}

/** `alone`: it shares no slots with others, and may be away. */
function stateOf(id: string, rows: Rows): string {
  const node = rows.nodes.get(id);
  if (!node) return rows.known.has(id) && slotsOf(id, rows) === 0 ? 'away' : 'alone';
  if (rows.drains.has(id)) return 'drains';
  return node.ready ? 'serves' : 'starts';
}
