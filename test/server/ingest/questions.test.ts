import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { MediaFile } from '../../../src/readers/media/ffmpeg.ts';
import { deep } from '../../rig/deep.ts';
import { startTestServer, TestAgent, type TestWorkspace } from '../../rig/test-server.ts';

const SAMPLES = '../shared/data/samples';

const FILM = 'video/bottle-detection.mp4';
/** They take most of the time: the picture is of writing, too, and films.test.ts asks about a small film. */
const LONG = deep([], ['pdf/MEDRPT-2024-PAT-3847_medical_report_scan.pdf', FILM]);
const FILES = [
  ...LONG,
  'office/test.pptx',
  'office/test.xlsx',
  'office/test.docx',
  'office/test.epub',
  'image/test_llm.jpg',
];

interface Question {
  readonly query: string;
  readonly name: string;
  readonly locator?: object;
  readonly source?: string;
  /** For a word without meaning to a model, the words are searched. */
  readonly families?: readonly string[];
}

/** Written before any search was made. */
const QUESTIONS: readonly Question[] = [
  // Any page of it: the heading has these words once among noise, and on one processor page 3 came first.
  { query: 'comprehensive medical report', name: 'MEDRPT', source: 'ocr' },
  {
    query: 'physical examination: general, alert and oriented',
    name: 'MEDRPT',
    locator: { page: 2 },
    source: 'ocr',
  },
  { query: 'which drug against acute headache?', name: 'MEDRPT', locator: { page: 3 }, source: 'ocr' },
  {
    query: '1b92870d-e3b5-4e65-8153-919f4ff45592',
    name: 'test.pptx',
    locator: { page: 3, page_kind: 'slide' },
    families: ['raw'],
  },
  { query: 'a nested shape with sub comments', name: 'test.pptx', locator: { page: 5 } },
  {
    query: 'affc7dad-52dc-4b98-9b5d-51e65d8a8ad0',
    name: 'test.xlsx',
    locator: { page: 2, page_kind: 'sheet' },
    families: ['raw'],
  },
  { query: 'encourage divergent thinking, improve factuality and reasoning', name: 'test.docx' },
  {
    query: 'a second chapter with a blockquote',
    name: 'test.epub',
    locator: { page: 3, page_kind: 'chapter' },
  },
  {
    query: 'describing this image, note the primary color of the square',
    name: 'test_llm.jpg',
    source: 'ocr',
  },
];

t.test(
  'questions about files of every kind find the right file and place first',
  { skip: existsSync(SAMPLES) ? false : 'the shared sample files are not here' },
  async (t) => {
    const server = await startTestServer(t);
    const workspace = await new TestAgent(server.url).rent({ ttl_minutes: 60 });
    await Promise.all(FILES.map((path) => ingested(workspace, path)));
    const asked = QUESTIONS.filter(({ name }) => FILES.some((path) => path.includes(name)));
    for (const { query, name, locator = {}, source = 'native', families } of asked) {
      const { body } = await workspace.search({ query, k: 3, ...(families && { families }) });
      t.match(body.hits[0], { item: { name: new RegExp(name) }, locator, text_source: source }, query);
    }
    if (!FILES.includes(FILM)) return;
    const image_b64 = (await frameAt(`${SAMPLES}/${FILM}`, 7)).toString('base64');
    const [hit] = (await workspace.search({ image_b64 })).body.hits;
    t.match(hit, { item: { name: 'bottle-detection.mp4' } });
    t.ok(Math.abs(hit.locator.time_s - 7) <= 1, `second ${hit.locator.time_s}`);
    const described = (await workspace.search({ query: 'water bottles', families: ['visual'] })).body.hits[0];
    t.match(described, { item: { name: 'bottle-detection.mp4' }, locator: { time_s: Number } });
  },
);

async function ingested(workspace: TestWorkspace, path: string): Promise<void> {
  const sent = await workspace.ingest(basename(path), new Uint8Array(readFileSync(`${SAMPLES}/${path}`)));
  let { job } = sent.body;
  while (!['searchable', 'failed', 'cancelled'].includes(job?.state)) {
    if (!job) throw new Error(`${path}: ${JSON.stringify(sent.body)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    job = (await workspace.send('GET', `/jobs/${job.id}`)).body;
  }
  if (job.state !== 'searchable') throw new Error(`${path}: ${JSON.stringify(job)}`);
}

/** The frame at a second, as a picture that an agent would cut out of the film. */
async function frameAt(path: string, second: number): Promise<Buffer> {
  const file = new MediaFile(path, 'mov,mp4,m4a,3gp,3g2,mj2');
  try {
    for (const piece of file.read({ everySeconds: 0, keyFramesOnly: false })) {
      if (!('width' in piece) || piece.time_s < second) continue;
      const { data, width, height } = piece;
      return await sharp(data, { raw: { width, height, channels: 3 } })
        .jpeg({ quality: 85 })
        .toBuffer();
    }
  } finally {
    file.close();
  }
  throw new Error('the film is shorter');
}
