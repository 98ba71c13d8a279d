import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BenchWorkspace, inParallel } from '../rig/agent.ts';
import { type Photograph, plainNameOf } from '../sets/photographs.ts';

const CLIENTS = 4;

/** Files that photographs are looked for among, in a folder of samples. */
const NEIGHBOURS: Readonly<Record<string, readonly string[]>> = {
  alone: [],
  films: ['video/bottle-detection.mp4', 'video/one-by-one-person-detection.mp4', 'image/animated-loop-3.gif'],
  PDFs: [
    'pdf/GeoTopo-komprimiert.pdf',
    'pdf/pdflatex-4-pages.pdf',
    'pdf/pdflatex-image.pdf',
    'pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf',
  ],
  'films and PDFs': [
    'video/bottle-detection.mp4',
    'video/one-by-one-person-detection.mp4',
    'pdf/GeoTopo-komprimiert.pdf',
    'pdf/pdflatex-4-pages.pdf',
    'office/test.pptx',
    'image/G31D_MULTI.TIF',
  ],
};

/** Whether captioned photographs stay among the first hits of the default answer when other files lie beside them. */
export async function judgeNeighbours(
  serverUrl: string,
  folder: string,
  photographs: readonly Photograph[],
  samples: string,
) {
  const captioned = photographs.filter(({ caption }) => caption !== undefined);
  if (captioned.length === 0 || !existsSync(samples)) return {};
  const among: Record<string, { r_at_1: number; r_at_5: number }> = {};
  for (const [neighbours, paths] of Object.entries(NEIGHBOURS)) {
    const workspace = await BenchWorkspace.rent(serverUrl, 240);
    const files = [
      ...captioned.map((one) => ({ path: join(folder, one.name), name: plainNameOf(one, photographs) })),
      ...paths.map((path) => ({ path: join(samples, path), name: basename(path) })),
    ];
    await inParallel(`ingest ${neighbours}`, files, CLIENTS, async ({ path, name }) =>
      workspace.ingest(name, new Uint8Array(readFileSync(path))),
    );
    const ranks: number[] = [];
    const missed: string[] = [];
    for (const photograph of captioned) {
      const { name, caption } = photograph;
      const { hits } = await workspace.search({ query: caption, k: 30 });
      const rank = hits.findIndex(({ item }) => item.name === plainNameOf(photograph, photographs));
      ranks.push(rank);
      if (rank < 0 || rank >= 5) missed.push(`${basename(name)} ${rank + 1}`);
    }
    const within = (cut: number) => ranks.filter((rank) => rank >= 0 && rank < cut).length;
    among[neighbours] = { r_at_1: within(1), r_at_5: within(5) };
    console.log(
      `photographs ${neighbours.padEnd(15)} first ${within(1)}, in five ${within(5)} of ${ranks.length}   ${missed.join(', ')}`,
    );
  }
  return { captioned_among: among };
}
