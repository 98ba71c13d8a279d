import type { ComponentChildren } from 'preact';
import type { Snapshot } from '../../../api/operator.ts';
import { formatBytes, formatClock } from '../../model/format.ts';
import { watch } from '../../model/operate/snapshots.ts';
import { useStore } from '../../model/store.ts';
import { CoinIcon } from '../controls/icons.tsx';
import { ThemeButton } from '../controls/theme-button.tsx';
import { Chart, type Curve } from './chart.tsx';
import { Doctor, Probe } from './operate-findings.tsx';

const LATENCY: readonly Curve[] = [
  { name: 'p50', unit: 'ms', colour: '--part-encode', of: ({ p50 }) => p50, decimals: 1 },
  { name: 'p99', unit: 'ms', colour: '--part-payment', of: ({ p99 }) => p99, decimals: 1 },
];
const THROUGHPUT: readonly Curve[] = [
  {
    name: 'Requests',
    unit: '/ s',
    colour: '--part-scan',
    of: (point) => point.requestsPerSecond,
    decimals: 1,
  },
  { name: 'Faults (5xx)', unit: '/ s', colour: '--bad', of: (point) => point.faultsPerSecond, decimals: 1 },
];
const QUEUES: readonly Curve[] = [
  { name: 'To encode', unit: '', colour: '--part-encode', of: ({ encoding }) => encoding, decimals: 0 },
  { name: 'To read', unit: '', colour: '--part-fuse', of: ({ reading }) => reading, decimals: 0 },
];
const REVENUE: readonly Curve[] = [
  { name: 'Settled', unit: 'USD', colour: '--bronze', of: ({ usd }) => usd, decimals: 4 },
];

const RECALL: readonly Curve[] = [
  { name: 'Recall', unit: '', colour: '--good', of: ({ recall }) => recall, decimals: 4 },
];

/** What the server is doing, for its operator. Read-only. */
export function Operate() {
  const { snapshot, points, findings, fault } = useStore(watch);
  return (
    <>
      <header class="top">
        <span class="brand">
          <CoinIcon />
          <span>Farthing</span>
        </span>
        <span class="spring" />
        <ThemeButton />
      </header>
      <main id="main">
        <h1 class="unseen">Operate</h1>
        {fault !== undefined && (
          <div class="fault" role="alert">
            <p>{fault}</p>
          </div>
        )}
        <div class="operate">
          <Panel title="Latency of searches">
            <Chart points={points} curves={LATENCY} />
          </Panel>
          <Panel title="Throughput">
            <Chart points={points} curves={THROUGHPUT} />
          </Panel>
          <Panel title="Queues">
            <Chart points={points} curves={QUEUES} />
          </Panel>
          <Panel title={snapshot?.payment.facilitator.kind === 'local' ? 'Revenue (play money)' : 'Revenue'}>
            <Chart points={points} curves={REVENUE} />
          </Panel>
          {snapshot && snapshot.recall_probe.length > 0 && (
            <Panel title="Recall probe">
              <Chart points={points} curves={RECALL} />
              <Probe samples={snapshot.recall_probe} />
            </Panel>
          )}
          {snapshot && <Tables snapshot={snapshot} />}
          <Doctor findings={findings} />
        </div>
      </main>
    </>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Tables({ snapshot }: { snapshot: Snapshot }) {
  const { families, revenue, tenants, payment, memory_bytes, uptime_s, traffic } = snapshot;
  return (
    <>
      <Panel title="Now">
        <dl class="usage">
          <Row name="Up" value={formatClock(uptime_s)} />
          <Row name="Memory" value={formatBytes(memory_bytes)} />
          <Row
            name="Workspaces"
            value={`${tenants.counted_all ? '' : 'at least '}${tenants.active_workspaces}`}
          />
          <Row name="Indexes" value={`${tenants.open_indexes} open`} />
          <Row name="Payments" value={`${payment.running} running, ${payment.pending} pending`} />
          {Object.entries(revenue).map(([kind, { count, usd }]) => (
            <Row key={kind} name={kind} value={`${count} for ${usd} USD`} />
          ))}
        </dl>
      </Panel>
      <Panel title="Requests since the start">
        <table>
          <tbody>
            {traffic.by_route.map(({ route, count }) => (
              <tr key={route}>
                <th scope="row">
                  <code>{route}</code>
                </th>
                <td class="figure">{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
      <section class="card wide">
        <h2>Models</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">Family</th>
              <th scope="col">Model</th>
              <th scope="col">Provider</th>
              <th scope="col" class="figure">
                Warm-up, ms
              </th>
            </tr>
          </thead>
          <tbody>
            {families.map(({ family, available, reason, model, provider, warmup_ms }) => (
              <tr key={family}>
                <th scope="row">{family}</th>
                <td>{available ? (model ?? 'none needed') : `not available: ${reason ?? ''}`}</td>
                <td>{provider ?? '–'}</td>
                <td class="figure">{warmup_ms === undefined ? '–' : Math.round(warmup_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Row({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
