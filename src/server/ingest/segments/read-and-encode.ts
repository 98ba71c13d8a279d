import type { Block, Extracted, FileInfo, PictureContent } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { TenantId } from '@farthing/protocol/id';
import { movedItem } from '@farthing/protocol/item';
import type { Item } from '@farthing/protocol/schema/items';
import type { IngestLimits } from '../ports/limits.ts';
import type {
  IngestEncoder,
  IngestExtractor,
  IngestListening,
  IngestPassage,
  IngestSegment,
  SaidPhrase,
  VectorsBySpace,
} from '../ports/ports.ts';
import { retryOverloaded } from '../ports/retry-overloaded.ts';
import { cuttable, locate, namePassage, wordsOfName } from './locate.ts';
import { familiesOf, passageSegments, pictureSegments } from './segments.ts';
import { unheard } from './unheard.ts';

/** Texts and pictures handed to the encoder at a time: enough for its batches, few enough to stop soon. */
const PASSAGES_AT_ONCE = 64;
const PICTURES_AT_ONCE = 16;

export interface ReadDeps {
  readonly extractor: IngestExtractor;
  readonly encoder: IngestEncoder;
  readonly limits: IngestLimits;
  /** Absent without a model of voice activity. */
  readonly listening?: IngestListening;
}

/** A file to be made Segments. */
export interface FileWork {
  readonly tenant: TenantId;
  readonly item: Item;
  readonly path: string;
  readonly info: FileInfo;
  readonly signal: AbortSignal;
}

/** Called as the work proceeds, with shares of reading and of encoding, 0..1. */
export interface Progress {
  extracting(fraction: number): void;
  /** Awaited before anything is encoded. */
  encodes(segments: number): Promise<void>;
  encoding(fraction: number, segments: number): void;
}

export interface IndexedFile {
  readonly item: Item;
  readonly segments: readonly IngestSegment[];
}

/**
 * The slow part of an ingest: reads a file, cuts it into passages and encodes them. Stores nothing.
 * @throws what the extractor throws; document_too_large; the signal's reason.
 */
export async function readAndEncode(
  { extractor, encoder, limits, listening }: ReadDeps,
  { tenant, item, path, info, signal }: FileWork,
  progress: Progress,
): Promise<IndexedFile> {
  const onProgress = (fraction: number): void => progress.extracting(fraction);
  const listener = info.notSearchable?.includes('speech') ? listening?.listen(tenant) : undefined;
  const spec = await retryOverloaded(() => encoder.pictureSpec(tenant), signal);
  signal.throwIfAborted();
  const read = await extractor.extract(path, info, {
    tenant,
    ...(spec && { spec }),
    signal,
    onProgress,
    ...(listener && { onSound: (samples) => listener.hear(samples) }),
  });
  const heard = await listener?.finish();
  signal.throwIfAborted();
  const extracted = { ...read, blocks: [...read.blocks, ...(heard?.said ?? []).map(spokenBlock)] };
  const { title, pictures } = extracted;
  const blocks = cuttable(extracted.blocks);
  const cut = await retryOverloaded(() => encoder.cutPassages({ title, blocks }, { tenant, signal }), signal);
  const isKnown = isKnownByName(extracted);
  const names = isKnown ? [namePassage(item, extracted)] : [];
  // Names of files with pictures get no vector: cosines of names like IMG_2041.jpg crowd out what pictures show.
  const unencoded = pictures.length > 0 ? names : [];
  const passages = [...(pictures.length > 0 ? [] : names), ...locate(cut, blocks, extracted)];
  const encoded = passages.length + pictures.length;
  const count = unencoded.length + encoded;
  checkCount(count, limits);
  await progress.encodes(count);
  let done = 0;
  const onDone = (more: number): void => {
    done += more;
    progress.encoding(done / encoded, count);
  };
  const options = { tenant, signal };
  const texts = await inParts(
    passages,
    PASSAGES_AT_ONCE,
    (part) => encoder.encodeIngest('text', part.map(wordsOf), options),
    onDone,
    signal,
  );
  const shown = spec
    ? await inParts(
        pictures,
        PICTURES_AT_ONCE,
        (part) => encoder.encodeIngest('picture', part.map(pixelsOf), options),
        onDone,
        signal,
      )
    : {};
  // The name comes first, so a film's name is located at its first Segment.
  const textSegments = [
    ...passageSegments(item.id, unencoded, {}),
    ...passageSegments(item.id, isKnown ? passages : withName(passages, item), texts),
  ];
  const visualSegments = pictureSegments(item.id, pictures, shown, info.pageKind);
  return {
    item: {
      ...movedItem(heardItem(item, heard?.speech, listening?.writes ?? false), 'searchable'),
      families: familiesOf(textSegments, visualSegments),
      segments: count,
      not_read: [...(extracted.notRead ?? []), ...(heard ? unheard(heard, info) : [])],
      ...(title !== undefined && { title }),
    },
    segments: [...textSegments, ...visualSegments],
  };
}

function spokenBlock({ text, time_s, time_end_s, certainty }: SaidPhrase): Block {
  return { text, time_s, time_end_s, source: 'speech', confidence: certainty };
}

/** The Item with its stretches of speech. Speech that is transcribed, or absent, is not listed as not searchable. */
function heardItem(item: Item, speech: Item['speech'], isWritten: boolean): Item {
  if (!speech) return item;
  const spoken = speech.length > 0 ? { ...item, speech } : item;
  if (speech.length > 0 && !isWritten) return spoken;
  const { not_searchable, ...rest } = spoken;
  const others = not_searchable?.filter((what) => what !== 'speech') ?? [];
  return others.length > 0 ? { ...rest, not_searchable: others } : rest;
}

/** Whether a file is found mainly by its name: a picture, film or recording, or a file with pictures but no text. */
function isKnownByName({ blocks, pictures, fileInfo: { kind } }: Extracted): boolean {
  if (kind === 'audio') return true;
  if (blocks.length + pictures.length === 0) return false;
  return kind === 'picture' || kind === 'video' || blocks.length === 0;
}

/**
 * A document's first passage with the words of its file's name behind its own. They are looked up and not encoded: a name says little of
 * what the passage means.
 */
function withName<P extends IngestPassage>([first, ...others]: readonly P[], { name }: Item): P[] {
  return first ? [{ ...first, words: `${first.words}\n${wordsOfName(name)}` }, ...others] : [];
}

function wordsOf(passage: IngestPassage): string {
  return passage.words;
}

function pixelsOf(picture: PictureContent): Uint8Array {
  return picture.pixels.rgb;
}

function checkCount(count: number, limits: IngestLimits): void {
  if (count === 0)
    throw new FarthingError('extraction_failed', 'The file has no text and no picture that could be found.');
  if (count > limits.segmentsPerItemMax) {
    throw new FarthingError(
      'document_too_large',
      `Send files of at most ${limits.segmentsPerItemMax} passages.`,
      { facts: { segments: count, limit_segments: limits.segmentsPerItemMax } },
    );
  }
}

/** Encodes part by part. Waits for a full encoder, since the job was admitted. */
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
    for (const [space, rows] of Object.entries(await retryOverloaded(() => encode(part), signal))) {
      whole[space] ??= [];
      whole[space].push(...rows);
    }
    onDone(part.length);
  }
  return whole;
}
