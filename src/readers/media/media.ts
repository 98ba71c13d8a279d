import { createHash } from 'node:crypto';
import { type Block, type ExtractLimits, type FileInfo, SOUND_RATE } from '@farthing/protocol/document';
import type { Preview } from '@farthing/protocol/file/preview';
import { type EmbeddedPicture, embeddedPictures } from '../picture/embedded.ts';
import { fromRaw } from '../picture/picture-content.ts';
import { previewOfRaw } from '../picture/picture-preview.ts';
import { prepareSharp } from '../picture/picture-source.ts';
import { ShotMerger } from '../picture/shots.ts';
import type { Prepare, Settings, Task } from '../process/messages.ts';
import { corrupt, tooLarge } from '../reading/refusal.ts';
import type { Output, Summary } from '../reading/sink.ts';
import { chapterBlocks, chaptersOf } from './chapters.ts';
import { MediaFile, quietFfmpeg, type RgbFrame } from './ffmpeg.ts';
import { recordingType } from './recordings.ts';
import { cueText } from './subtitles.ts';
import { tagBlock, titleTag } from './tags.ts';

/**
 * Seconds between the frames that are looked at; more in a film that would have more than FRAMES_MAX of them. It samples, like every
 * distance of frames: what is said and the subtitles are read whole.
 */
const FRAME_EVERY_SECONDS = 0.5;
const FRAMES_MAX = 4_000;
/** Pixels of a film over which key frames alone are decoded: about a minute and a half of one core. */
const DECODED_PIXELS_MAX = 2e10;
/** The same for a preview, which a user waits for: some seconds of film after a key frame. */
const PREVIEW_PIXELS_MAX = 5e8;
/** The size of 8K: no film is larger. */
const FRAME_PIXELS_MAX = 36_000_000;
const BYTES_PER_SAMPLE = 2;
/** Ten seconds. */
const SOUND_MESSAGE_BYTES = 10 * BYTES_PER_SAMPLE * SOUND_RATE;
/** Frames between two turns of the event loop, so that messages flow. */
const FRAMES_PER_TURN = 8;

/** The program that reads films and sounds, with FFmpeg. */
export const prepare: Prepare = async (settings) => {
  quietFfmpeg();
  prepareSharp();
  return {
    tryOut: async () => undefined,
    perform: async (task, _body, output) => {
      switch (task.task) {
        case 'open-recording':
          return {
            fileInfo: await withMedia(task, (file) => describe(file, task.mediaType, settings.limits)),
          };
        case 'extract':
          return withMedia(task, (file) => extract(file, settings, output, task));
        case 'listen':
          await withMedia(task, (file) => listen(file, settings.limits, output, task.from));
          return {};
        case 'preview':
          await output.preview(await withMedia(task, (file) => preview(file, task.timeS)));
          return {};
        default:
          throw new Error(`not a task of the media program: ${task.task}`);
      }
    },
  };
};

async function withMedia<T>(
  { path, mediaType }: { path: string; mediaType: string },
  use: (file: MediaFile) => T | Promise<T>,
): Promise<T> {
  const type = recordingType(mediaType);
  if (!type) throw new Error(`${mediaType} is no recording`);
  const file = new MediaFile(path, type.demuxers);
  try {
    return await use(file);
  } finally {
    file.close();
  }
}

/** Checks the limits and decodes the first frame. */
function describe(file: MediaFile, mediaType: string, limits: ExtractLimits): FileInfo {
  const { size, duration_s } = file;
  if (!size && !file.hasAudio) throw corrupt('it has neither pictures nor sound');
  if (duration_s > limits.mediaSecondsMax)
    throw tooLarge(`Send recordings of at most ${limits.mediaSecondsMax} seconds.`, {
      duration_s,
      limit_seconds: limits.mediaSecondsMax,
    });
  const title = titleTag(file.tags);
  const known = {
    ...(duration_s > 0 && { duration_s: rounded(duration_s) }),
    ...(title !== undefined && { title }),
  };
  const speech = file.hasAudio ? { notSearchable: ['speech'] as const } : {};
  if (!size)
    return { kind: 'audio', mediaType: mediaType.replace(/^video\//, 'audio/'), ...known, ...speech };
  const { width, height } = size;
  if (width * height > FRAME_PIXELS_MAX)
    throw tooLarge(`Send films of at most ${FRAME_PIXELS_MAX} pixels a frame.`, {
      width,
      height,
      limit_pixels: FRAME_PIXELS_MAX,
    });
  for (const piece of file.read({ everySeconds: FRAME_EVERY_SECONDS, keyFramesOnly: true })) {
    if ('width' in piece) return { kind: 'video', mediaType, width, height, ...known, ...speech };
  }
  throw corrupt('none of its pictures can be decoded');
}

async function extract(
  file: MediaFile,
  { limits, pictureSpec: specInUse }: Settings,
  output: Output,
  { path, mediaType, pictureSpec = specInUse }: Extract<Task, { task: 'extract' }>,
): Promise<Summary> {
  const { tags, duration_s, video } = file;
  const title = titleTag(tags);
  const tagged = tagBlock(tags, output.notRead);
  if (tagged) await output.block(tagged);
  for (const chapter of chapterBlocks(chaptersOf(path, mediaType, tags, output.notRead), duration_s))
    await output.block(chapter);
  const covers: EmbeddedPicture[] = [];
  const everySeconds = Math.max(FRAME_EVERY_SECONDS, duration_s / FRAMES_MAX);
  const shots = new ShotMerger(limits.shotsMax, everySeconds);
  let frames = 0;
  const reading = file.read({
    everySeconds,
    keyFramesOnly: isLong(video, duration_s),
    // A recording of unknown length, as browsers write them, may turn out to be long.
    decodedPixelsMax: DECODED_PIXELS_MAX,
  });
  for (const piece of reading) {
    if ('cover' in piece) {
      if (covers.length < limits.pagePicturesMax) covers.push({ bytes: piece.cover });
      else output.notRead('pictures', 'limit', 1);
      continue;
    }
    if (!('width' in piece)) {
      const text = cueText(piece.codec, piece.data);
      if (text !== '') await output.block(cue(text, piece.time_s, piece.duration_s));
      continue;
    }
    const digest = createHash('sha256').update(piece.data).digest();
    const times = { time_s: piece.time_s, time_end_s: piece.time_s };
    shots.push(await fromRaw({ ...piece, channels: 3 }, pictureSpec, { digest, ...times }));
    if (duration_s > 0) output.progress(Math.min(1, piece.time_s / duration_s));
    if (++frames % FRAMES_PER_TURN === 0) await new Promise(setImmediate);
  }
  for (const cover of await embeddedPictures(covers, limits, pictureSpec, output.notRead))
    await output.picture(cover);
  for (const shot of shots.finish()) await output.picture(shot);
  if (shots.dropped > 0) output.notRead('frames', 'limit', shots.dropped);
  return { ...(title !== undefined && { title }) };
}

/** @param from samples that were given before: they are decoded once more, as few formats can be entered at a sample */
async function listen(
  file: MediaFile,
  { mediaSecondsMax }: ExtractLimits,
  output: Output,
  from: number,
): Promise<void> {
  const { duration_s } = file;
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let skipped = from * BYTES_PER_SAMPLE;
  const flush = async (): Promise<void> => {
    if (bytes > 0) await output.sound(Buffer.concat(pieces));
    [pieces, bytes] = [[], 0];
  };
  for (const decoded of file.sound(duration_s || mediaSecondsMax)) {
    const piece = decoded.subarray(Math.min(skipped, decoded.length));
    skipped -= decoded.length - piece.length;
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= SOUND_MESSAGE_BYTES) await flush();
  }
  await flush();
}

/** The frame that a film shows at a second, or the last one before it that can be decoded. Before the first frame: the first. */
async function preview(file: MediaFile, timeS = 0): Promise<Preview> {
  if (timeS > 0) file.seek(timeS);
  let shown: RgbFrame | undefined;
  const decodedPixelsMax = PREVIEW_PIXELS_MAX;
  for (const piece of file.read({ everySeconds: 0, keyFramesOnly: false, decodedPixelsMax })) {
    if (!('width' in piece)) continue;
    if (shown && piece.time_s > timeS) break;
    shown = piece;
    if (piece.time_s >= timeS) break;
  }
  if (!shown) throw corrupt('none of its pictures can be decoded');
  return previewOfRaw({ ...shown, channels: 3 });
}

function cue(text: string, time_s: number, duration_s: number): Block {
  return { text, time_s: rounded(time_s), time_end_s: rounded(time_s + duration_s), source: 'subtitle' };
}

/** Whether decoding every frame takes too long. Encoders put key frames at cuts and every few seconds. */
function isLong(video: MediaFile['video'], duration_s: number): boolean {
  if (!video) return false;
  const { num, den } = video.avgFrameRate;
  const frames = duration_s * (den > 0 && num > 0 ? num / den : 30);
  return frames * video.codecpar.width * video.codecpar.height > DECODED_PIXELS_MAX;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
