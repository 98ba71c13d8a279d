import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rowsIn } from './rig/csv.ts';
import type { Row } from './rig/record.ts';

/** `make bench NAME=report RECORD=….csv`: one page that opens from the disk, with every figure of a record, and charts by uPlot. */

/** A chart is drawn of the metrics that match, one line for each `series`. */
const CHARTS: readonly {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly of: RegExp;
}[] = [
  { title: 'Paid searches a second', x: 'clients', y: '/s', of: /^search-(?<x>\d+)\/per_second$/ },
  { title: 'Paid search, p50', x: 'clients', y: 'ms', of: /^search-(?<x>\d+)\/p50_ms$/ },
  { title: 'Index, p50', x: 'rows', y: 'ms', of: /^engines\/(?<series>.+), rows (?<x>\d+)\/p50_ms$/ },
  {
    title: 'Confidence, and the share that is relevant',
    x: 'confidence',
    y: 'share',
    of: /^reliability\/(?<series>.+)\/(?<x>\d\.\d+)$/,
  },
  { title: 'Soak', x: 'minute', y: 'MiB, files', of: /^minute (?<x>[\d.]+)\/(?<series>\w+)$/ },
];
const STYLE =
  'body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}' +
  'td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}';
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];

/** Writes the page beside the record. @returns its path */
export function writeReport(path: string): string {
  const rows = rowsIn<Row>(readFileSync(path, 'utf8'));
  const uplot = dirname(createRequire(import.meta.url).resolve('uplot/package.json'));
  const asset = (name: string) => readFileSync(join(uplot, 'dist', name), 'utf8');
  const benches = [...new Set(rows.map(({ bench, command }) => `${bench}\t${command}`))];
  const charts = CHARTS.flatMap((chart) => chartOf(chart, rows));
  const tables = benches.map((key) => {
    const [bench, command] = key.split('\t');
    const of = rows.filter((row) => row.bench === bench && row.command === command);
    const lines = of.map(({ metric, value, unit, low, high, peer, peer_value }) =>
      [
        metric,
        `${value} ${unit}`,
        low === '' ? '' : `${low} to ${high}`,
        peer === '' ? '' : `${peer} ${peer_value}`,
      ]
        .map((cell) => `<td>${escaped(cell)}</td>`)
        .join(''),
    );
    return `<h2>${escaped(command)}</h2><table><tr><th>figure<th>value<th>spread<th>peer</tr><tr>${lines.join('</tr><tr>')}</tr></table>`;
  });
  const { machine, simd, cores, date, commit } = rows[0]!;
  const page = [
    `<!doctype html><meta charset="utf-8"><title>Farthing, ${date}</title><style>${STYLE}${asset('uPlot.min.css')}</style>`,
    `<h1>Measured on ${date}</h1><p>${escaped(machine)}, ${simd}, ${cores} cores, commit ${commit}</p><div id="charts"></div>`,
    ...tables,
    `<script>${asset('uPlot.iife.min.js')}</script><script>const charts = ${JSON.stringify(charts).replaceAll('<', '\\u003c')}`,
    'for (const { data, ...rest } of charts) new uPlot({ width: 800, height: 320, ...rest }, data, document.getElementById("charts"))</script>',
  ];
  const target = path.replace(/\.csv$/, '.html');
  writeFileSync(target, page.join('\n'));
  return target;
}

/** Options and data of uPlot; none where no metric matches. */
function chartOf({ title, x, y, of }: (typeof CHARTS)[number], rows: readonly Row[]): object[] {
  const lines = new Map<string, Map<number, number>>();
  const put = (series: string, at: number, value: number) =>
    lines.set(series, (lines.get(series) ?? new Map<number, number>()).set(at, value));
  for (const { metric, value, peer, peer_value } of rows) {
    const found = of.exec(String(metric))?.groups;
    if (!found) continue;
    put(found.series ?? 'farthing', Number(found.x), Number(value));
    if (peer !== '') put(String(peer), Number(found.x), Number(peer_value));
  }
  if (lines.size === 0) return [];
  const at = [...new Set([...lines.values()].flatMap((line) => [...line.keys()]))].sort((a, b) => a - b);
  const series = [...lines.keys()].map((label, index) => ({
    label,
    stroke: COLOURS[index % COLOURS.length],
    points: { show: true },
    spanGaps: true,
  }));
  const data = [at, ...[...lines.values()].map((line) => at.map((one) => line.get(one) ?? null))];
  return [
    {
      title,
      scales: { x: { time: false } },
      axes: [{ label: x }, { label: y }],
      series: [{ label: x }, ...series],
      data,
    },
  ];
}

const escaped = (text: unknown) =>
  String(text).replace(
    /[&<>"]/g,
    (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!,
  );

const { RECORD } = process.env;
if (RECORD) console.log(writeReport(RECORD));
