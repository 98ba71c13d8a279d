import { bytesText, clockText, counted } from '@farthing/protocol/figures';
import type { Snapshot } from '@farthing/protocol/schema/operator';
import type { ComponentChildren } from 'preact';
import { formatMs, formatShare } from '../../model/figures/format.ts';
import { Panel } from './panel.tsx';

/** What the curves do not show. */
export function Tables({ snapshot }: { snapshot: Snapshot }) {
  return (
    <>
      <Now snapshot={snapshot} />
      <Days days={snapshot.revenue_by_day} />
      <Codes codes={snapshot.traffic.by_code} />
      <Confidences confidence={snapshot.confidence} />
      <Routes routes={snapshot.traffic.by_route} />
      <Models families={snapshot.families} />
    </>
  );
}

function Now({ snapshot }: { snapshot: Snapshot }) {
  const { revenue, tenants, payment, memory_bytes, disk, uptime_s, traffic } = snapshot;
  return (
    <Panel title="Now">
      <dl class="usage">
        <Row name="Up" value={clockText(uptime_s)} />
        <Row name="Requests" value={String(traffic.requests)} />
        <Row name="Memory" value={bytesText(memory_bytes)} />
        <Row
          name="Disk"
          value={`${bytesText(disk.free_bytes)} free of ${bytesText(disk.total_bytes)}`}
          state={disk.free_bytes < DISK_LOW * disk.total_bytes ? 'bad' : undefined}
        />
        <Row
          name="Workspaces"
          value={`${tenants.counted_all ? '' : 'at least '}${tenants.active_workspaces}, ${counted(tenants.open_indexes, 'index', 'indexes')} open`}
        />
        <Row name="Payments" value={`${payment.running} running, ${payment.pending} pending`} />
        {Object.entries(revenue).map(([kind, { count, usd }]) => (
          <Row key={kind} name={KINDS[kind] ?? kind} value={`${count} for ${usd} USD`} />
        ))}
      </dl>
    </Panel>
  );
}

/** Share of the disk below which its row warns. */
const DISK_LOW = 0.1;
const KINDS: Readonly<Record<string, string>> = {
  settled: 'Settled',
  prepaid: 'Prepaid',
  returned: 'Returned',
  refused: 'Refused',
  pending: 'Not known',
  presumed: 'Presumed',
};

function Row({ name, value, state }: { name: string; value: string; state?: 'bad' }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd data-state={state}>{value}</dd>
    </div>
  );
}

function Days({ days }: { days: Snapshot['revenue_by_day'] }) {
  const most = Math.max(...days.map(({ usd }) => Number(usd)));
  return (
    <Panel title="Revenue by day">
      <Listed empty="Nothing was settled yet." count={days.length}>
        {days.map(({ day, count, usd }) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            <td class="bar-cell">
              <Bar share={most === 0 ? 0 : Number(usd) / most} />
            </td>
            <td class="figure">{count}</td>
            <td class="figure">{usd} USD</td>
          </tr>
        ))}
      </Listed>
    </Panel>
  );
}

function Codes({ codes }: { codes: Snapshot['traffic']['by_code'] }) {
  return (
    <Panel title="Errors by code">
      <Listed empty="No request was refused yet." count={codes.length}>
        {codes.map(({ status, code, count }) => (
          <tr key={`${status} ${code}`}>
            <td>
              <span class="status" data-kind={Math.floor(status / 100)}>
                {status}
              </span>
            </td>
            <th scope="row">
              <code>{code}</code>
            </th>
            <td class="figure">{count}</td>
          </tr>
        ))}
      </Listed>
    </Panel>
  );
}

function Confidences({ confidence }: { confidence: Snapshot['confidence'] }) {
  const total = confidence.reduce((sum, [, count]) => sum + count, 0);
  const most = Math.max(1, ...confidence.map(([, count]) => count));
  return (
    <Panel title="Confidence of answers">
      <Listed empty="Nothing was searched yet." count={total}>
        {confidence.map(([edge, count], index) => (
          <tr key={edge}>
            <th scope="row">
              {confidence[index - 1]?.[0] ?? 0} to {edge}
            </th>
            <td class="bar-cell">
              <Bar share={count / most} />
            </td>
            <td class="figure">{count}</td>
            <td class="figure">{formatShare(count / total)}</td>
          </tr>
        ))}
      </Listed>
    </Panel>
  );
}

function Routes({ routes }: { routes: Snapshot['traffic']['by_route'] }) {
  return (
    <Panel title="Slowest routes" wide>
      <table>
        <thead>
          <tr>
            <th scope="col">Route</th>
            <th scope="col" class="figure">
              Requests
            </th>
            <th scope="col" class="figure">
              p50, ms
            </th>
            <th scope="col" class="figure">
              p99, ms
            </th>
          </tr>
        </thead>
        <tbody>
          {routes.map(({ route, count, p50_ms, p99_ms }) => (
            <tr key={route}>
              <th scope="row" title={route}>
                <code>{route}</code>
              </th>
              <td class="figure">{count}</td>
              <td class="figure">{p50_ms === null ? '–' : formatMs(p50_ms)}</td>
              <td class="figure">{p99_ms === null ? '–' : formatMs(p99_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Models({ families }: { families: Snapshot['families'] }) {
  return (
    <Panel title="Models" wide>
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
              <td title={reason}>
                {available ? (model ?? 'none needed') : `not available: ${reason ?? ''}`}
              </td>
              <td>{provider ?? '–'}</td>
              <td class="figure">{warmup_ms === undefined ? '–' : Math.round(warmup_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Bar({ share }: { share: number }) {
  return <i class="share" style={{ width: `${100 * share}%` }} />;
}

interface ListedProps {
  readonly count: number;
  /** Said in place of a table without rows. */
  readonly empty: string;
  readonly children: ComponentChildren;
}

function Listed({ count, empty, children }: ListedProps) {
  if (count === 0) return <p class="quiet">{empty}</p>;
  return (
    <table>
      <tbody>{children}</tbody>
    </table>
  );
}
