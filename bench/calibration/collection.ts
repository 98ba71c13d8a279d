import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Encoder, Passage } from '../../src/engine/encode/encoder.ts';
import { type BeirSet, readBeirSet } from '../sets/beir.ts';

/** A set of BEIR's shape, cut and encoded once: encoding takes minutes. */
export interface Collection {
  readonly set: BeirSet;
  readonly titles: readonly string[];
  /** For each document its passages. */
  readonly passages: readonly (readonly Passage[])[];
  readonly dimensions: number;
  /** Vectors of all passages, row by row. */
  readonly rows: Float32Array;
  /** Vectors of all queries, row by row. */
  readonly queryRows: Float32Array;
}

const TENANT = 'calibration';

/** Reads a set, and its vectors from the cache folder if they are there. */
export async function encodedCollection(
  encoder: Encoder,
  folder: string,
  cacheFolder: string,
): Promise<Collection> {
  const set = await readBeirSet(folder);
  const space = encoder.spaces.find(({ name }) => name === 'text_semantic');
  if (!space) throw new Error('there is no text model to calibrate');
  const { dimensions, modelSha256 } = space;
  const passages: Passage[][] = [];
  // A document that is a title alone has the title for its text.
  for (const { title, text } of set.documents)
    passages.push(
      await encoder.cutPassages({ ...(title !== '' && { title }), blocks: [{ text: text || title }] }),
    );
  const path = join(cacheFolder, `${set.name}-${modelSha256}`);
  const rows = await kept(`${path}.passages`, passages.flat().length, async (report) => {
    const texts = passages.flat().map(({ words }) => words);
    const encoded = await encoder.encodeIngest('text', texts, {
      tenant: TENANT,
      onProgress: (done) => report(`${set.name}: ${done} of ${texts.length} passages`),
    });
    return encoded.text_semantic!;
  });
  const queryRows = await kept(`${path}.queries`, set.queries.length, async () => {
    const vectors: Float32Array[] = [];
    for (const { text } of set.queries)
      vectors.push((await encoder.encodeQuery('text', text, { tenant: TENANT })).text_semantic!);
    return vectors;
  });
  const titles = set.documents.map(({ title }) => title);
  return { set, titles, passages, dimensions, rows, queryRows };
}

/** A collection with some documents of others behind its own: about so many passages, from all of them alike. */
export function withOthers(own: Collection, others: readonly Collection[], count: number): Collection {
  const [titles, passages] = [[...own.titles], [...own.passages]];
  const rows = [own.rows];
  for (const other of others) {
    let [document, taken] = [0, 0];
    while (taken < count / others.length && document < other.passages.length) {
      titles.push(other.titles[document]!);
      passages.push(other.passages[document]!);
      taken += other.passages[document]!.length;
      document += 1;
    }
    rows.push(other.rows.subarray(0, taken * other.dimensions));
  }
  const all = new Float32Array(rows.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of rows) {
    all.set(part, at);
    at += part.length;
  }
  return { ...own, titles, passages, rows: all };
}

/** Vectors from a file, or made and kept there. A file of another number of vectors is made again. */
async function kept(
  path: string,
  count: number,
  make: (report: (line: string) => void) => Promise<readonly Float32Array[]>,
): Promise<Float32Array> {
  if (existsSync(path)) {
    const bytes = await readFile(path);
    const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    if (values.length % count === 0 && values.length > 0) return values;
  }
  const vectors = await make((line) => process.stderr.write(`\r${line}`));
  const width = vectors[0]!.length;
  const values = new Float32Array(vectors.length * width);
  vectors.forEach((vector, row) => {
    values.set(vector, row * width);
  });
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(`${path}.part`, new Uint8Array(values.buffer));
  await rename(`${path}.part`, path);
  return values;
}
