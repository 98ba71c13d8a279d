import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { CrashPlace } from '../../cluster/crash-place.ts';
import { freePorts } from '../../rig/ports.ts';
import { Random } from '../../rig/random.ts';
import { serveFacilitator } from '../rig/facilitator-server.ts';
import { payWithFetch, payWithPython, rentWithFile, searchWithMcp } from './balanced-clients.ts';
import { Balancer } from './balancer.ts';
import { ClusterNode } from './cluster-node.ts';
import { serverSettings } from './killed-server.ts';
import { OutsideLedger } from './outside/outside-ledger.ts';

/**
 * `make crash-clients MINUTES=10`: published clients, unmodified, through a plain TCP balancer over three servers that are killed, paused
 * beyond their lease and stopped in turn. A caller repeats a failed call with the same Idempotency-Key. Every call is answered in the end,
 * and charged once: the facilitator's book has as many transfers. Needs `make etcd` and Python; without Python its client is left out.
 */

const SECONDS = 60 * Number(process.env.MINUTES || 10);
const NODES = 3;
const BETWEEN_MS = 8000;
const PAUSE_MS = 5000;

const random = new Random(Number(process.env.SEED || 1));
const ledger = new OutsideLedger({ random: random.fork(), repetition: 'refused', delayMsMax: 15 });
const facilitator = await serveFacilitator(ledger);
const place = await CrashPlace.open({ beyondDisk: 'folder', sharedSlots: 24 }, random.fork());
await place.calm();
const settings = { ...serverSettings(place.folder, { FACILITATOR: facilitator.url }), ...place.settings };
const ports = await freePorts(NODES);
const nodes = ports.map((port, index) => {
  const dataFolder = join(place.folder, `node-${index}`);
  return new ClusterNode({
    id: `n${index}`,
    port,
    peerUrl: `http://127.0.0.1:${port}`,
    dataFolder,
    settings,
  });
});
const balancer = await Balancer.start(ports);
const end = () => {
  for (const node of nodes) node.destroy();
  void place.close({ keep: false });
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.once('exit', end);
await Promise.all(nodes.map((node) => node.ready));

const python = pythonWithX402();
const until = performance.now() + 1000 * SECONDS;
const running = { url: balancer.url, isOver: () => performance.now() > until };
const workspace = await rentWithFile(nodes[0]!.url);
const before = ledger.transfers.size;
const clients = [
  payWithFetch(running),
  payWithFetch(running),
  searchWithMcp(running, workspace),
  ...(python ? [payWithPython(running, { python, folder: place.folder, seconds: SECONDS })] : []),
];
let [killed, paused, stopped] = [0, 0, 0];
for (let turn = 0; performance.now() < until - BETWEEN_MS; turn++) {
  await pause(BETWEEN_MS);
  const node = nodes[turn % NODES]!;
  if (turn % 4 === 3) {
    stopped += 1;
    node.restart();
  } else if (turn % 4 === 1) {
    paused += 1;
    node.pause();
    await pause(PAUSE_MS);
    node.resume();
  } else {
    killed += 1;
    node.kill();
  }
  await node.ready;
}
const reports = await Promise.all(clients);
const charged = reports.reduce((sum, report) => sum + report.charged, 0);
const transfers = ledger.transfers.size - before;
console.log(
  JSON.stringify({ seconds: SECONDS, killed, paused, stopped, reports, charged, transfers }, null, 2),
);
await balancer.close();
await facilitator.close();
process.exit(charged === transfers ? 0 : 1);

function pythonWithX402(): string | undefined {
  const folder = join(place.folder, 'python');
  mkdirSync(folder);
  try {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'ignore' });
    execFileSync(join(folder, 'bin/pip'), ['install', '-q', 'x402[requests,evm]'], { stdio: 'ignore' });
    return join(folder, 'bin/python');
  } catch {
    console.log('the Python client is left out: no environment with x402[requests,evm] could be made');
    return undefined;
  }
}
