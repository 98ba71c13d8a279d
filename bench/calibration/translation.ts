/**
 * Fits the map that takes queries of multilingual-e5-small into MiniLM's space (`src/engine/encode/text/translation.ts`), on English texts that both
 * models know: the labels of pictures, alone and in their sentence, and titles and queries of the collections of SETS. It is written to
 * FILE, and nothing else is changed: the manifest has its checksum. How well it does with captions is `make bench NAME=quality`.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openEncoder, openPreviousEncoder } from '../../src/engine/encode/open-encoder.ts';
import { readBeirSet, setFolder } from '../sets/beir.ts';
import { ENCODER } from './encoder.ts';
import { fitted } from './fitted.ts';

const TITLES = 600;

const root = join(import.meta.dirname, '../..');
const tenant = 'translation';

interface Pair {
  readonly from: Float32Array;
  readonly into: Float32Array;
}

const texts = [...labels(), ...(await collections())];
const into = await openEncoder(ENCODER);
const from = into.otherLanguages && (await openPreviousEncoder(ENCODER, into.otherLanguages));
if (!from) throw new Error('there is no model for other languages');
const pairs: Pair[] = [];
try {
  for (const text of texts) {
    const [own, other] = await Promise.all(
      [into, from].map(
        async (encoder) => (await encoder.encodeQuery('text', text, { tenant })).text_semantic!,
      ),
    );
    pairs.push({ into: own!, from: other! });
  }
} finally {
  await Promise.all([into.close(), from.close()]);
}
const bytesOf = (name: keyof Pair) =>
  Buffer.concat(pairs.map((pair) => Buffer.from(new Uint8Array(pair[name].slice().buffer)))).toString(
    'base64',
  );
export const facts = fitted('translation', {
  texts: pairs.length,
  from: bytesOf('from'),
  into: bytesOf('into'),
  file: resolve(process.env.FILE || join(root, 'models/multilingual-e5-small/into_minilm.f32')),
});
console.log(JSON.stringify(facts));

function labels(): string[] {
  const lines = readFileSync(join(ENCODER.modelsFolder, 'mobilenet-v2/imagenet_labels.txt'), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line) => [
    `a photo of a ${line.trim()}.`,
    ...line.split(',').map((name) => name.trim()),
  ]);
}

async function collections(): Promise<string[]> {
  const all = await Promise.all(process.env.SETS!.split(',').map((name) => readBeirSet(setFolder(name))));
  return all.flatMap(({ queries, documents }) => [
    ...queries.map(({ text }) => text),
    ...documents.slice(0, TITLES).map(({ title, text }) => title || text.slice(0, 100)),
  ]);
}
