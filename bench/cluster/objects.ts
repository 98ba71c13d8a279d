import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderObjects } from '../../src/cluster/stores/objects/folder-objects.ts';
import type { Objects } from '../../src/cluster/stores/objects/objects.ts';
import { S3Objects } from '../../src/cluster/stores/objects/s3.ts';
import { EtcdServers, withoutEtcd } from '../../test/cluster/etcd-servers.ts';
import { GarageServer, withoutGarage } from '../../test/cluster/objects/garage-server.ts';
import { BenchWorkspace, quantile, startServer } from '../rig/agent.ts';
import { post } from '../rig/payer.ts';

/**
 * What files and indexes in objects cost. Uploads at a server with its disk alone, one
 * with its books in a three-node etcd, and one with its content in Garage as well, in turns; then a start and a first search after its disk was lost.
 * OBJECTS=folder: a folder of this disk instead of Garage.
 */

const ROUNDS = Number(process.env.ROUNDS);
const WARM_UP = 5;
const TEXT = 'The lighthouse keeper counts gulls at dawn and writes the tide into the log.';
const LARGE_BYTES = 10 * 2 ** 20;
const LARGE_ROUNDS = Math.ceil(ROUNDS / 4);
const RESTARTS = 5;
/** Workspaces with a file each, beside the one that is timed, when the disk is lost. */
const TENANTS = Number(process.env.TENANTS);

type Variant = 'disk' | 'etcd' | 'objects';

/** One long line, which is a passage or two: most of the time is the file's own. */
function largeFile(round: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(LARGE_BYTES).fill(0x20);
  bytes.set(Buffer.from(`${TEXT} ${round} ${randomBytes(8).toString('hex')}\n`));
  return bytes;
}

/** @returns milliseconds */
async function upload(
  workspace: BenchWorkspace,
  body: string | Uint8Array<ArrayBuffer>,
  wait: boolean,
): Promise<number> {
  const headers = { ...workspace.headers, ...(wait && { Prefer: 'wait=60' }) };
  return (await post(`${workspace.url}/ingest`, body, headers)).ms;
}

export const facts: Record<string, object> = {};
if (withoutEtcd !== undefined) throw new Error(withoutEtcd);
const isFolder = process.env.OBJECTS === 'folder';
if (!isFolder && withoutGarage !== undefined)
  throw new Error(`${withoutGarage}; OBJECTS=folder does without it`);
const folder = mkdtempSync(join(tmpdir(), 'farthing-objects-'));
const etcd = await EtcdServers.start(join(folder, 'etcd'));
const garage = isFolder ? undefined : await GarageServer.start(join(folder, 'garage'));
try {
  await garage?.bucket('bench');
  mkdirSync(join(folder, 'objects'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const kept = {
    CLUSTER: etcd.cluster('objects'),
    FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex'),
    ...(garage?.settings('bench') ?? { FARTHING_OBJECTS: `file://${join(folder, 'objects')}` }),
  };
  const servers = {
    disk: await startServer(),
    etcd: await startServer({ CLUSTER: etcd.cluster('etcd') }),
    objects: await startServer(kept, { folder: data }),
  };
  const workspaces = {} as Record<Variant, BenchWorkspace>;
  for (const variant of ['disk', 'etcd', 'objects'] as const)
    workspaces[variant] = await BenchWorkspace.rent(servers[variant].url, 60);
  const kinds: Record<string, (variant: Variant, round: number) => Promise<number>> = {
    'upload until accepted': (variant, round) => upload(workspaces[variant], `${TEXT} a${round}`, false),
    'upload until searchable': (variant, round) => upload(workspaces[variant], `${TEXT} s${round}`, true),
    '10 MB until accepted': (variant, round) => upload(workspaces[variant], largeFile(round), false),
  };
  const uploads: Record<string, Record<Variant, number>> = {};
  for (const [kind, once] of Object.entries(kinds)) {
    const times: Record<Variant, number[]> = { disk: [], etcd: [], objects: [] };
    const rounds = kind.startsWith('10 MB') ? LARGE_ROUNDS : ROUNDS;
    for (let round = 0; round < WARM_UP + rounds; round++)
      for (const variant of ['disk', 'etcd', 'objects'] as const) {
        const milliseconds = await once(variant, round);
        if (round >= WARM_UP) times[variant].push(milliseconds);
      }
    uploads[kind] = {
      disk: quantile(times.disk, 0.5),
      etcd: quantile(times.etcd, 0.5),
      objects: quantile(times.objects, 0.5),
    };
  }
  facts.uploads_ms = uploads;
  facts.bare_put_ms = await barePuts(objectsIn('bench', 'bare/'));

  const left = Array.from({ length: TENANTS }, (_, number) => number).values();
  const fill = async () => {
    for (const number of left)
      await upload(await BenchWorkspace.rent(servers.objects.url, 60), `${TEXT} ${number}`, false);
  };
  await Promise.all(Array.from({ length: 4 }, fill));
  const path = new URL(workspaces.objects.url).pathname;
  const starts: number[] = [];
  const searches: number[] = [];
  let { objects } = servers;
  for (let restart = 0; restart < RESTARTS; restart++) {
    await objects.stop();
    rmSync(data, { recursive: true });
    mkdirSync(data);
    const began = performance.now();
    objects = await startServer(kept, { folder: data });
    starts.push(performance.now() - began);
    const query = JSON.stringify({ query: 'who counts birds in the morning?' });
    searches.push((await post(`${objects.url}${path}/search`, query, workspaces.objects.headers)).ms);
  }
  facts.after_loss = { start_ms: starts, first_search_ms: searches };
  for (const server of [servers.disk, servers.etcd, objects]) await server.stop();
} finally {
  await etcd.stop();
  await garage?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function objectsIn(bucket: string, prefix: string): Objects {
  if (!garage) return new FolderObjects(join(folder, 'objects'), `${bucket}/${prefix}`);
  const { endpoint, keyId: accessKeyId, secret: secretAccessKey } = garage;
  return new S3Objects({ endpoint, bucket, prefix, region: 'garage', accessKeyId, secretAccessKey });
}

async function barePuts(objects: Objects): Promise<Record<string, number>> {
  const puts: Record<string, number> = {};
  for (const [what, bytes] of [
    ['100 bytes', 100],
    ['4 MiB', 4 * 2 ** 20],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < 15; round++) {
      const body = randomBytes(bytes);
      const began = performance.now();
      await objects.put(`${bytes}-${round}`, body);
      times.push(performance.now() - began);
    }
    puts[what] = quantile(times, 0.5);
  }
  return puts;
}
