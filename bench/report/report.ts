import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Claim } from '../job/claims.ts';
import type { machine } from '../rig/record.ts';
import { type Chart, chartSvg } from './chart.ts';
import {
  type BenchRecord,
  type IndexRecord,
  interferenceChart,
  latencyCharts,
  type QualityRecord,
  recallChart,
  reliabilityCharts,
  type SoakRecord,
  soakCharts,
  throughputChart,
} from './plots.ts';
import { claimTable, scenarioTable, table } from './tables.ts';

/** One page that opens from the disk, of a record and what else was recorded on that machine that day; its plots lie beside it as SVG. */

type AnyRecord = BenchRecord &
  IndexRecord &
  QualityRecord &
  SoakRecord & {
    readonly machine?: Partial<ReturnType<typeof machine>>;
    readonly quality?: readonly Readonly<Record<string, unknown>>[];
    readonly plan?: object;
    readonly claims?: readonly Claim[];
  };

const STYLE =
  'body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}svg{max-width:100%;height:auto;margin:1rem 0}' +
  'table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}' +
  'td:first-child,th:first-child{text-align:left}code{background:#f4f4f4}';

/** @param path a record. @returns the path of `report.html` beside it. */
export async function writeReport(path: string): Promise<string> {
  const folder = dirname(path);
  const main = await read(path);
  const beside = async (prefix: string): Promise<AnyRecord> => {
    const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith('.json'));
    const latest = names.sort().at(-1);
    return latest ? read(join(folder, latest)) : {};
  };
  const [index, soak] = [await beside('index'), await beside('soak')];
  const [quality, calibration] = [await beside('quality'), await beside('calibration')];
  const ofAll = { reliability: [...(calibration.reliability ?? []), ...(quality.reliability ?? [])] };
  const charts: readonly (readonly [name: string, charts: readonly Chart[]])[] = [
    ['latency', latencyCharts(main)],
    ['throughput', throughputChart(main)],
    ['interference', interferenceChart(main)],
    ['recall', recallChart(index)],
    ['reliability', reliabilityCharts(ofAll)],
    ['soak', soakCharts(soak)],
  ];
  await mkdir(join(folder, 'plots'), { recursive: true });
  const drawn: string[] = [];
  for (const [name, all] of charts) {
    for (const [number, chart] of all.entries()) {
      const svg = chartSvg(chart);
      await writeFile(
        join(folder, 'plots', `${name}${all.length > 1 ? `-${number + 1}` : ''}.svg`),
        `${svg}\n`,
      );
      drawn.push(svg);
    }
  }
  const page = pageOf(path, main, drawn);
  const written = join(folder, 'report.html');
  await writeFile(written, page);
  return written;
}

const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as AnyRecord;

function pageOf(path: string, record: AnyRecord, svgs: readonly string[]): string {
  const { processor, cores, memory_gib, kernel, node, load_before, commit } = record.machine ?? {};
  const described = table(
    ['machine', ''],
    [
      ['processor', `${processor}, ${cores} cores`],
      ['memory', `${memory_gib} GiB`],
      ['kernel, Node', `${kernel}, ${node}`],
      ['load before', String(load_before?.join(' '))],
      ['commit', String(commit)],
      ['record', path.split('/').at(-1)!],
    ],
  );
  const quality = (record.quality ?? []).map((one) => Object.values(one).map(String));
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Farthing: measured</title>',
    `<style>${STYLE}</style><h1>Farthing: measured</h1>`,
    '<p>Medians over the runs, and in brackets the least and the greatest. Times of open loops count from the moment a request was meant to be sent.</p>',
    described,
    claimTable(record.claims ?? []),
    scenarioTable(record.scenarios ?? []),
    quality.length > 0 ? table(['server', 'nDCG@10', 'queries'], quality) : '',
    ...svgs,
    '</html>',
  ].join('\n');
}
