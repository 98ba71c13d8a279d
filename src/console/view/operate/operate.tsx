import type { HourPoint } from '@farthing/protocol/schema/operator';
import { watch } from '../../model/operate/snapshots.ts';
import { useStore } from '../../model/state/store.ts';
import { CoinIcon } from '../controls/icons.tsx';
import { ThemeButton } from '../controls/theme-button.tsx';
import { Chart, type Curve } from './chart.tsx';
import { Doctor, Probe } from './operate-findings.tsx';
import { Tables } from './operate-tables.tsx';
import { Panel } from './panel.tsx';

const LATENCY: readonly Curve[] = [
  { name: 'p50', unit: 'ms', colour: '--part-encode', of: ({ p50_ms }) => p50_ms, decimals: 1 },
  { name: 'p99', unit: 'ms', colour: '--part-payment', of: ({ p99_ms }) => p99_ms, decimals: 1 },
];
const THROUGHPUT: readonly Curve[] = [
  {
    name: 'Requests',
    unit: '/ s',
    colour: '--part-scan',
    of: (point) => point.requests_per_second,
    decimals: 1,
  },
  { name: 'Faults (5xx)', unit: '/ s', colour: '--bad', of: (point) => point.faults_per_second, decimals: 1 },
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
        <span class="quiet">{sayCovered(points)}</span>
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

/** How much of the past the curves show. */
function sayCovered(points: readonly HourPoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return 'The first figures come in a moment.';
  const minutes = Math.round((last.at - first.at) / 60);
  return minutes <= 1 ? 'The last minute' : `The last ${minutes} minutes`;
}
