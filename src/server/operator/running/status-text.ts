import type { Snapshot } from '@farthing/protocol/schema/operator';

const NAME_COLUMNS = 18;
const GIGABYTE = 1e9;

/** A snapshot as lines of text. The metrics have what changes from second to second. */
export function statusText(snapshot: Snapshot): string {
  const { uptime_s, memory_bytes, disk, tenants, queues, payment, revenue, revenue_by_day, families } =
    snapshot;
  const workspaces = `${tenants.counted_all ? '' : 'at least '}${tenants.active_workspaces}`;
  const { encoding, reading } = queues;
  const coin = payment.facilitator.kind === 'local' ? 'USD of play money' : 'USD';
  return [
    row('up', `${Math.floor(uptime_s / 3600)} h ${Math.floor(uptime_s / 60) % 60} min`),
    row('memory', gigabytes(memory_bytes)),
    row('disk', `${gigabytes(disk.free_bytes)} free of ${gigabytes(disk.total_bytes)}`),
    row('workspaces', `${workspaces} active; ${tenants.open_indexes} indexes open`),
    row('waiting', `${encoding.queries + encoding.ingest} to encode, ${reading.extracting} to read`),
    row('payments', `${payment.running} running, ${payment.pending} pending`),
    ...Object.entries(revenue).map(([kind, { count, usd }]) => row(kind, `${count} for ${usd} ${coin}`)),
    ...revenue_by_day.map(({ day, count, usd }) => row(day, `${count} settled for ${usd} ${coin}`)),
    ...families.map(({ family, available, reason, model, provider }) =>
      row(
        family,
        available
          ? [model ?? 'no model needed', ...(provider === undefined ? [] : [`on ${provider}`])].join(' ')
          : `not available: ${reason ?? ''}`,
      ),
    ),
  ].join('');
}

function row(name: string, value: string): string {
  return `${name.padEnd(NAME_COLUMNS)}${value}\n`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / GIGABYTE).toFixed(bytes < GIGABYTE ? 2 : 1)} GB`;
}
