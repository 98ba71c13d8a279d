import type { Kv, KvRow } from '../stores/kv.ts';
import { agreeOnMoney } from './agreed-money.ts';
import { FORMAT_ROWS, type FormatRow, KNOWN_ROWS, OWNER_ROWS } from './node-rows.ts';
import { ClaimError } from './slot-claims.ts';

/** Formats of the cluster's rows that this Farthing reads and writes. */
export const FORMATS: FormatRow = { min: 2, max: 2 };

/** Configuration on which the servers of a cluster agree. */
export interface ClusterConfig {
  /** Format in which all of them write all rows. */
  readonly format: number;
  readonly slots: number;
}

export interface ConfigOptions {
  readonly kv: Kv;
  /** Name of the cluster. */
  readonly cluster: string;
  readonly slots: number;
  /** Id of this process's node. */
  readonly node: string;
  /** The money of this process's settings. Absent: it sells nothing. */
  readonly money?: string;
  readonly formats?: FormatRow;
}

/** How far a cluster's format can be raised. */
export interface Upgrade {
  readonly config: ClusterConfig;
  /** The highest that all servers know, if it is higher than the one in use. */
  readonly possible: number | undefined;
  /** The highest that any server knows. */
  readonly newest: number;
  /** Ids of the servers that do not know that one, with the highest that they know. */
  readonly behind: ReadonlyMap<string, number>;
}

/**
 * Joins a cluster: the first process decides on its slots and its format, and each announces the formats it supports before it reads or
 * writes anything else. The format cannot be raised in between.
 * @throws ClaimError, AnswerLostError
 */
export async function agreeOnConfig(options: ConfigOptions): Promise<ClusterConfig> {
  const { kv, cluster, slots, node, money, formats = FORMATS } = options;
  if (money !== undefined) await agreeOnMoney(kv, cluster, money);
  const formatKey = FORMAT_ROWS.key(cluster, node);
  for (;;) {
    const [[configRow] = [], [formatRow] = []] = await kv.ranges([only(configKey(cluster)), only(formatKey)]);
    const config = configRow ? configIn(configRow) : { format: formats.max, slots };
    if (!knows(formats, config.format)) throw new ClaimError(unknownFormat(cluster, config.format, formats));
    if (config.slots !== slots)
      throw new ClaimError(`the cluster "${cluster}" has ${config.slots} slots, not ${slots}`);
    const { done } = await kv.commit({
      // A former attempt that arrives late has no effect.
      when: [conditionOf(configKey(cluster), configRow), conditionOf(formatKey, formatRow)],
      puts: [
        ...(configRow ? [] : [{ key: configKey(cluster), value: bytesOf(config) }]),
        { key: formatKey, value: FORMAT_ROWS.format(formats) },
        { key: joinedKey(cluster), value: bytesOf({ node }) },
      ],
    });
    if (done) return config;
  }
}

/** Undefined for an empty cluster. @throws AnswerLostError; ClaimError for one in a format that this version does not support */
export async function readClusterConfig(kv: Kv, cluster: string): Promise<ClusterConfig | undefined> {
  const key = configKey(cluster);
  const [row] = await kv.range(key, `${key}\0`);
  const config = row && configIn(row);
  if (config && !knows(FORMATS, config.format))
    throw new ClaimError(unknownFormat(cluster, config.format, FORMATS));
  return config;
}

/** Key range of the config: one row. */
export function configRange(cluster: string): { readonly from: string; readonly to: string } {
  return only(configKey(cluster));
}

export function configIn({ value }: KvRow): ClusterConfig {
  return JSON.parse(Buffer.from(value).toString()) as ClusterConfig;
}

/** Undefined for an empty cluster. @throws AnswerLostError, RowMalformedError */
export async function readUpgrade(kv: Kv, cluster: string): Promise<Upgrade | undefined> {
  return (await look(kv, cluster))?.upgrade;
}

/**
 * Raises the format to the highest that all servers that have joined support, including those that are away. Running servers switch to it
 * at their next look.
 * @returns what can be raised after that; undefined for an empty cluster
 * @throws AnswerLostError, RowMalformedError
 */
export async function raiseFormat(kv: Kv, cluster: string): Promise<Upgrade | undefined> {
  for (;;) {
    const found = await look(kv, cluster);
    if (found?.upgrade.possible === undefined) return found?.upgrade;
    const { upgrade, when } = found;
    const config = { ...upgrade.config, format: upgrade.possible! };
    await kv.commit({ when, puts: [{ key: configKey(cluster), value: bytesOf(config) }] });
  }
}

/** @returns also the conditions under which no server has joined since, nor raised the format */
async function look(kv: Kv, cluster: string) {
  const kinds = [FORMAT_ROWS, KNOWN_ROWS, OWNER_ROWS] as const;
  const [[configRow] = [], [joined] = [], formatRows = [], known = [], owners = []] = await kv.ranges([
    only(configKey(cluster)),
    only(joinedKey(cluster)),
    ...kinds.map((kind) => kind.range(cluster)),
  ]);
  if (!configRow) return undefined;
  const config = configIn(configRow);
  const ids = [
    ...known.map(({ key }) => KNOWN_ROWS.name(cluster, key)),
    ...owners.map(({ key, value }) => OWNER_ROWS.parse(key, value).node),
  ];
  const formats = new Map([
    // Servers that have never reported their formats.
    ...ids.map((id): [string, FormatRow] => [id, { min: config.format, max: config.format }]),
    ...formatRows.map(({ key, value }): [string, FormatRow] => [
      FORMAT_ROWS.name(cluster, key),
      FORMAT_ROWS.parse(key, value),
    ]),
  ]);
  const when = [conditionOf(configKey(cluster), configRow), conditionOf(joinedKey(cluster), joined)];
  return { upgrade: upgradeOf(config, formats), when };
}

function upgradeOf(config: ClusterConfig, formats: ReadonlyMap<string, FormatRow>): Upgrade {
  const all = [...formats.values()];
  const newest = Math.max(config.format, ...all.map(({ max }) => max));
  const common = Math.min(newest, ...all.map(({ max }) => max));
  const isPossible = common > config.format && all.every((row) => knows(row, common));
  const behind = [...formats].filter(([, row]) => !knows(row, newest));
  return {
    config,
    newest,
    possible: isPossible ? common : undefined,
    behind: new Map(behind.map(([id, { max }]) => [id, max] as const)),
  };
}

function knows({ min, max }: FormatRow, format: number): boolean {
  return min <= format && format <= max;
}

function unknownFormat(cluster: string, format: number, { min, max }: FormatRow): string {
  const known = min === max ? `${max}` : `${min} to ${max}`;
  const advice = format > max ? 'a newer' : 'an older';
  return `the cluster "${cluster}" has format ${format}, and this Farthing reads ${known}: use ${advice} one`;
}

function configKey(cluster: string): string {
  return `/farthing/${cluster}/config`;
}

/** Changes whenever a server joins. */
function joinedKey(cluster: string): string {
  return `/farthing/${cluster}/joined`;
}

function only(key: string): { readonly from: string; readonly to: string } {
  return { from: key, to: `${key}\0` };
}

function conditionOf(key: string, row: KvRow | undefined) {
  return { key, revision: row?.revision ?? 0 };
}

function bytesOf(row: object): Uint8Array {
  return Buffer.from(JSON.stringify(row));
}
