import type { Block, Extracted, Opened, PictureContent } from '../domain/document.ts';
import { errorCode, FarthingError } from '../domain/error.ts';
import { type Item, movedItem } from '../domain/item.ts';
import type { Job } from '../domain/job.ts';
import type { JobTable } from './job-table.ts';
import { cuttable, locate } from './locate.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestLimits,
  IngestPassage,
  IngestSegment,
  VectorsBySpace,
} from './parts.ts';
import { familiesOf, passageSegments, pictureSegments } from './segments.ts';

/** Shares of a job's progress at which its stages end. */
const EXTRACTED = 0.3;
const ENCODED = 0.95;

/** Texts and pictures that are handed to the encoder at once: enough for its batches, few enough to stop soon. */
const PASSAGES_AT_ONCE = 64;
const PICTURES_AT_ONCE = 16;
const OVERLOAD_WAIT_MS = 1_000;

export interface WorkParts {
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly jobs: JobTable;
  readonly limits: IngestLimits;
}

export interface Finished {
  readonly item: Item;
  readonly segments: readonly IngestSegment[];
}

/**
 * The slow part of a job: reads the file, cuts and encodes it. Nothing of it lasts but the job's state.
 * @throws what the extractor throws; document_too_large; the signal's reason.
 */
export async function workOn(
  { extractor, encoder, jobs, limits }: WorkParts,
  job: Job,
  item: Item,
  path: string,
  known: Opened | undefined,
  signal: AbortSignal,
): Promise<Finished> {
  await jobs.move(job.id, 'extracting');
  const opened = known ?? (await extractor.open(path, { name: item.name, tenant: job.tenant }));
  signal.throwIfAborted();
  const onProgress = (fraction: number): void => jobs.note(job.id, fraction * EXTRACTED, 0);
  const extracted = await extractor.extract(path, opened, { signal, onProgress });
  signal.throwIfAborted();
  const { title, pictures } = extracted;
  const blocks = cuttable(namedAtLeast(extracted, item));
  const cut = await encoder.cutPassages({ title, blocks }, { tenant: job.tenant, signal });
  const passages = locate(cut, blocks, extracted);
  const count = passages.length + pictures.length;
  checkCount(count, limits);
  await jobs.move(job.id, 'encoding', { progress: EXTRACTED, segments: count });
  let done = 0;
  const onDone = (more: number): void => {
    done += more;
    jobs.note(job.id, EXTRACTED + ((ENCODED - EXTRACTED) * done) / count, count);
  };
  const options = { tenant: job.tenant, signal };
  const texts = await inParts(
    passages,
    PASSAGES_AT_ONCE,
    (part) => encoder.encodePassages(part.map(wordsOf), options),
    onDone,
    signal,
  );
  const shown = encoder.pictureSpec
    ? await inParts(
        pictures,
        PICTURES_AT_ONCE,
        (part) => encoder.encodePictures(part.map(pixelsOf), options),
        onDone,
        signal,
      )
    : {};
  const ofPassages = passageSegments(item.id, passages, texts);
  const ofPictures = pictureSegments(item.id, pictures, shown, opened.pageKind);
  return {
    item: {
      ...movedItem(item, 'searchable'),
      families: familiesOf(ofPassages, ofPictures),
      segments: count,
      ...(title !== undefined && { title }),
    },
    segments: [...ofPassages, ...ofPictures],
  };
}

/** A recording without tags, words and pictures can still be found by its name. */
function namedAtLeast({ blocks, pictures, opened }: Extracted, { name }: Item): readonly Block[] {
  if (opened.kind !== 'audio' || blocks.length + pictures.length > 0) return blocks;
  return [{ text: name.replace(/\.[^.]{1,5}$/, '').replaceAll('_', ' ') }];
}

function wordsOf(passage: IngestPassage): string {
  return passage.words;
}

function pixelsOf(picture: PictureContent): PictureContent['pixels'] {
  return picture.pixels;
}

function checkCount(count: number, limits: IngestLimits): void {
  if (count === 0)
    throw new FarthingError('extraction_failed', 'The file has no text and no picture that could be found.');
  if (count > limits.segmentsPerItemMax) {
    throw new FarthingError(
      'document_too_large',
      `Send files of at most ${limits.segmentsPerItemMax} passages.`,
      {
        facts: { segments: count, limit_segments: limits.segmentsPerItemMax },
      },
    );
  }
}

/** Encodes part by part. An encoder that is full is waited for: the job was admitted. */
async function inParts<T>(
  inputs: readonly T[],
  size: number,
  encode: (part: readonly T[]) => Promise<VectorsBySpace>,
  onDone: (more: number) => void,
  signal: AbortSignal,
): Promise<VectorsBySpace> {
  const whole: VectorsBySpace = {};
  for (let start = 0; start < inputs.length; start += size) {
    const part = inputs.slice(start, start + size);
    for (const [space, rows] of Object.entries(await unlessOverloaded(() => encode(part), signal))) {
      whole[space] ??= [];
      whole[space].push(...rows);
    }
    onDone(part.length);
  }
  return whole;
}

/** Waits while the encoder is full. @throws the signal's reason */
export async function unlessOverloaded<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) !== 'overloaded') throw error;
      await sleep(OVERLOAD_WAIT_MS, signal);
    }
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}
