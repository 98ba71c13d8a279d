import type { Block, Extracted, FileInfo, PictureContent } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import { type Item, movedItem } from '../../domain/item.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestLimits,
  IngestListening,
  IngestPassage,
  IngestSegment,
  Stretch,
  VectorsBySpace,
} from '../deps.ts';
import { cuttable, locate } from '../locate.ts';
import { unlessOverloaded } from '../retry-overloaded.ts';
import { familiesOf, passageSegments, pictureSegments } from '../segments.ts';

/** Texts and pictures that are handed to the encoder at once: enough for its batches, few enough to stop soon. */
const PASSAGES_AT_ONCE = 64;
const PICTURES_AT_ONCE = 16;

export interface WorkDeps {
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly limits: IngestLimits;
  /** Absent where no model of voice activity is installed. */
  readonly listening?: IngestListening;
}

/** One file, to be made Segments. */
export interface FileWork {
  readonly tenant: string;
  readonly item: Item;
  readonly path: string;
  readonly opened: FileInfo;
  readonly signal: AbortSignal;
}

/** Hears how it goes: shares of reading and of encoding, 0..1. */
export interface Progress {
  extracting(fraction: number): void;
  /** Awaited before anything is encoded. */
  encodes(segments: number): Promise<void>;
  encoding(fraction: number, segments: number): void;
}

export interface Finished {
  readonly item: Item;
  readonly segments: readonly IngestSegment[];
}

/**
 * The slow part: reads the file, cuts and encodes it. Nothing of it lasts.
 * @throws what the extractor throws; document_too_large; the signal's reason.
 */
export async function workOn(
  { extractor, encoder, limits, listening }: WorkDeps,
  { tenant, item, path, opened, signal }: FileWork,
  progress: Progress,
): Promise<Finished> {
  const onProgress = (fraction: number): void => progress.extracting(fraction);
  const listener = opened.notSearchable?.includes('speech') ? listening?.listen() : undefined;
  const read = await extractor.extract(path, opened, {
    signal,
    onProgress,
    ...(listener && { onSound: (samples) => listener.hear(samples) }),
  });
  const heard = await listener?.finish();
  signal.throwIfAborted();
  const extracted = { ...read, blocks: [...read.blocks, ...(heard?.said ?? []).map(spokenBlock)] };
  const { title, pictures } = extracted;
  const blocks = cuttable(namedAtLeast(extracted, item));
  const cut = await encoder.cutPassages({ title, blocks }, { tenant, signal });
  const passages = locate(cut, blocks, extracted);
  const count = passages.length + pictures.length;
  checkCount(count, limits);
  await progress.encodes(count);
  let done = 0;
  const onDone = (more: number): void => {
    done += more;
    progress.encoding(done / count, count);
  };
  const options = { tenant, signal };
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
      ...movedItem(heardItem(item, heard?.speech, listening?.writes ?? false), 'searchable'),
      families: familiesOf(ofPassages, ofPictures),
      segments: count,
      ...(title !== undefined && { title }),
    },
    segments: [...ofPassages, ...ofPictures],
  };
}

function spokenBlock({ text, time_s, time_end_s }: Stretch & { text: string }): Block {
  return { text, time_s, time_end_s, source: 'speech' };
}

/** The Item with where somebody speaks in it; what is written down, or where nobody speaks, is no speech that could not be searched. */
function heardItem(item: Item, speech: Item['speech'], isWritten: boolean): Item {
  if (!speech) return item;
  const spoken = speech.length > 0 ? { ...item, speech } : item;
  if (speech.length > 0 && !isWritten) return spoken;
  const { not_searchable, ...rest } = spoken;
  const others = not_searchable?.filter((what) => what !== 'speech') ?? [];
  return others.length > 0 ? { ...rest, not_searchable: others } : rest;
}

/** A recording without tags, words and pictures can still be found by its name. */
function namedAtLeast({ blocks, pictures, fileInfo }: Extracted, { name }: Item): readonly Block[] {
  if (fileInfo.kind !== 'audio' || blocks.length + pictures.length > 0) return blocks;
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
