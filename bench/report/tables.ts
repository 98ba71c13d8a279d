import type { Claim } from '../job/claims.ts';
import { type Measured, median } from '../job/measure.ts';
import type { Run } from '../load/drive.ts';

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${row(heading, 'th')}${rows.map((cells) => row(cells, 'td')).join('')}</table>`;
}

function spread(runs: readonly Run[], figure: (run: Run) => number | undefined): string {
  const values = runs.flatMap((run) => figure(run) ?? []);
  if (values.length === 0) return '–';
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));
  return `${digits(median(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))})`;
}

export function scenarioTable(scenarios: readonly Measured[]): string {
  return table(
    [
      'scenario',
      'server',
      'loop',
      'a second',
      'p50 ms',
      'p99 ms',
      'refused',
      'CPU ms each',
      'cores',
      'memory MiB',
    ],
    scenarios.map(({ title, who, loop, runs }) => [
      title,
      who,
      'clients' in loop ? `${loop.clients} clients` : `${loop.perSecond}/s`,
      spread(runs, ({ per_second }) => per_second),
      spread(runs, ({ latency_ms }) => latency_ms?.p50),
      spread(runs, ({ latency_ms }) => latency_ms?.p99),
      spread(runs, ({ refused }) => refused),
      spread(runs, ({ cpu_ms_per_answer }) => cpu_ms_per_answer),
      spread(runs, ({ cpu_cores }) => cpu_cores),
      spread(runs, ({ anonymous_mib }) => anonymous_mib),
    ]),
  );
}

export function claimTable(claims: readonly Claim[]): string {
  if (claims.length === 0) return '';
  const rows = claims.map(({ claim, goal, figure, holds }) => [
    claim,
    String(goal),
    figure === null ? 'not measured' : figure.toFixed(2),
    holds === null ? '–' : holds ? 'holds' : 'falls short',
  ]);
  return table(['aim', 'goal', 'figure', ''], rows);
}
