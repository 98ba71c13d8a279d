import { rootCause } from '@farthing/protocol/error';
import type { Finding } from '@farthing/protocol/schema/operator';
import { ok, problem, warning } from '@farthing/server/operator/finding';
import type { Settings } from '@farthing/server/settings/settings';
import { NODE_ROWS } from '../members/node-rows.ts';
import { AccessRefusedError, type Etcd, type EtcdMember } from '../stores/etcd.ts';
import { clusterName, namedClusterKeys, namedEtcd, namedObjects } from '../stores/named-stores.ts';
import { UnsuitableStoreError } from '../stores/objects/objects.ts';

const MEBIBYTE = 2 ** 20;
/** etcd refuses every write once it is full. */
const FULL_SHARE = 0.7;
/** Syncs above this are slow, according to etcd's own guide. */
const SYNC_MS_MAX = 10;
const ROUNDS = 5;

/** The etcd of `FARTHING_CLUSTER`: whether most of its members answer, how fast, and how full it is. Nothing is written. */
export async function books(settings: Settings): Promise<Finding[]> {
  if (settings.CLUSTER === '') return [ok('books', 'on this disk alone')];
  const etcd = await namedEtcd(settings);
  try {
    const cluster = clusterName(settings);
    const answers = await reads(etcd, `/farthing/${cluster}/`);
    const differing = answers.state === 'ok' ? await modelsOf(etcd, cluster) : [];
    return [answers, ...differing, ...(await etcd.members()).map(member)];
  } finally {
    etcd.close();
  }
}

/** The living servers whose models are not the cluster's. */
async function modelsOf(etcd: Etcd, cluster: string): Promise<Finding[]> {
  const { from, to } = NODE_ROWS.range(cluster);
  const rows = await etcd.range(from, to);
  return rows.flatMap(({ key, value }) => {
    const { models_differ: how } = NODE_ROWS.parse(key, value);
    if (how === undefined) return [];
    return problem(
      'models of the cluster',
      `${NODE_ROWS.name(cluster, key)} takes no slots: ${how}`,
      'Give it the same models and FARTHING_PROVIDER, or: farthing admin cluster forget-models, and restart each server.',
    );
  });
}

/** A read that most members agree on. */
async function reads(etcd: Etcd, prefix: string): Promise<Finding> {
  const times: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      await etcd.check(prefix);
      times.push(performance.now() - began);
    }
  } catch (error) {
    const remedy =
      error instanceof AccessRefusedError
        ? 'Check FARTHING_CLUSTER_USER, its password and the certificates.'
        : 'Check FARTHING_CLUSTER, the network, and that most members run (etcdctl endpoint status).';
    return problem('books', (error as Error).message, remedy);
  }
  return ok('books', `etcd has a majority, which answers a read in ${median(times).toFixed(1)} ms`);
}

function member(found: EtcdMember | Error): Finding {
  if (found instanceof Error)
    return warning(
      'etcd member',
      found.message,
      'Restart it: if one more is lost, the books cannot be written.',
    );
  const { address, version, hasLeader, dbBytes, quotaBytes, syncMs, errors } = found;
  const quota = quotaBytes > 0 ? ` of ${(quotaBytes / MEBIBYTE).toFixed(0)}` : '';
  const syncs = syncMs === undefined ? '' : `, a sync to its disk takes ${syncMs.toFixed(1)} ms`;
  const figures = `${address}: ${version}, ${(dbBytes / MEBIBYTE).toFixed(0)}${quota} MiB used${syncs}`;
  if (!hasLeader || errors.length > 0)
    return problem(
      'etcd member',
      `${figures}; ${errors.join(', ') || 'no leader'}`,
      'Of NOSPACE: compact, defragment, then etcdctl alarm disarm. Otherwise see its log.',
    );
  if (quotaBytes > 0 && dbBytes > FULL_SHARE * quotaBytes)
    return warning('etcd member', figures, 'Defragment it, or give it a larger --quota-backend-bytes.');
  if (syncMs !== undefined && syncMs > SYNC_MS_MAX)
    return warning(
      'etcd member',
      figures,
      'Give it a disk of its own: each payment waits for several syncs.',
    );
  return ok('etcd member', figures);
}

/** The object store of `FARTHING_OBJECTS`. A small object is written, read, listed and removed. */
export async function objects(settings: Settings): Promise<Finding[]> {
  if (settings.OBJECTS === '') return [ok('objects', 'files and indexes are on this disk alone')];
  const keys = await namedClusterKeys(settings);
  const began = performance.now();
  try {
    await (await namedObjects(settings)).check();
  } catch (error) {
    if (error instanceof UnsuitableStoreError)
      return [problem('objects', error.message, 'Set another FARTHING_OBJECTS.')];
    const remedy = 'Check FARTHING_OBJECTS, its key and secret, the network, and this machine’s clock.';
    return [problem('objects', `the store does not do what is asked: ${rootCause(error)}`, remedy)];
  }
  const took = (performance.now() - began).toFixed(0);
  return [
    ok('objects', `an object was written, read, listed and removed in ${took} ms`),
    keys.length === 1
      ? ok('cluster key', keys[0].id)
      : warning(
          'cluster key',
          `${keys[0].id}, and ${keys.length - 1} former`,
          'Destroy the former after one start.',
        ),
  ];
}

function median(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1]!;
}
