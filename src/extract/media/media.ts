import { createHash } from 'node:crypto';
import { type Block, type ExtractLimits, type FileInfo, SOUND_RATE } from '../../domain/document.ts';
import type { Preview } from '../../domain/preview.ts';
import { embeddedPictures } from '../picture/embedded.ts';
import { fromRaw, prepareSharp, shrinkRaw } from '../picture/picture.ts';
import { PICTURE_SIDE_PIXELS } from '../picture/preview.ts';
import { ShotMerger } from '../picture/shots.ts';
import type { Settings, Task } from '../process/messages.ts';
import type { Done, Output, Prepare } from '../process/program.ts';
import { corrupt, tooLarge, unsupported } from '../reading/refusal.ts';
import { chapterBlocks, chaptersOf } from './chapters.ts';
import { MediaFile, quietFfmpeg, type RgbFrame } from './ffmpeg.ts';
import { mediaFormat } from './recordings.ts';
import { cueText } from './subtitles.ts';
import { tagBlock, titleTag } from './tags.ts';

/** Frames are looked at so often, and less often in films with more of them than the second figure. */
const LOOK_EVERY_SECONDS = 0.5;
const LOOKS_MAX = 4_000;
/** Work of decoding every frame, in pixels, over which only key frames are decoded: about a minute and a half of one core. */
const DECODED_PIXELS_MAX = 2e10;
/** The same for the frame of a preview, which somebody waits for: some seconds from its key frame. */
const PREVIEW_PIXELS_MAX = 5e8;
/** The size of 8K: no film is larger. */
const FRAME_PIXELS_MAX = 36_000_000;
/** Ten seconds. */
const SOUND_BYTES_AT_ONCE = 10 * 2 * SOUND_RATE;
const TURN_EVERY_FRAMES = 8;

/** Video and audio, read by FFmpeg. */
export const prepare: Prepare = async (settings) => {
  quietFfmpeg();
  prepareSharp();
  return {
    tryOut: async () => undefined,
    perform: async (task, _body, output) => {
      if (task.task === 'open')
        return {
          opened: withMedia(task.path, task.mediaType, (file, type) => describe(file, type, settings.limits)),
        };
      if (task.task !== 'extract' && task.task !== 'preview') throw new Error(`no media task: ${task.task}`);
      const file = new MediaFile(task.path, formatOf(task.mediaType).demuxers);
      try {
        if (task.task === 'extract') return await extract(file, settings, output, task);
        await output.preview(await preview(file, task.timeS));
        return {};
      } finally {
        file.close();
      }
    },
  };
};

function formatOf(mediaType: string | undefined) {
  const format = mediaType === undefined ? undefined : mediaFormat(mediaType);
  if (!format) throw unsupported(mediaType);
  return format;
}

function withMedia<T>(
  path: string,
  mediaType: string | undefined,
  use: (file: MediaFile, mediaType: string) => T,
): T {
  const format = formatOf(mediaType);
  const file = new MediaFile(path, format.demuxers);
  try {
    return use(file, format.mediaType);
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
  const unheard = file.hasAudio ? { notSearchable: ['speech'] as const } : {};
  if (!size)
    return { kind: 'audio', mediaType: mediaType.replace(/^video\//, 'audio/'), ...known, ...unheard };
  const { width, height } = size;
  if (width * height > FRAME_PIXELS_MAX)
    throw tooLarge(`Send films of at most ${FRAME_PIXELS_MAX} pixels a frame.`, {
      width,
      height,
      limit_pixels: FRAME_PIXELS_MAX,
    });
  for (const piece of file.read({ everySeconds: LOOK_EVERY_SECONDS, keyFramesOnly: true })) {
    if ('width' in piece) return { kind: 'video', mediaType, width, height, ...known, ...unheard };
  }
  throw corrupt('none of its pictures can be decoded');
}

async function extract(
  file: MediaFile,
  { limits, pictureSpec }: Settings,
  output: Output,
  { path, mediaType, sound = false }: Extract<Task, { task: 'extract' }>,
): Promise<Done> {
  const { tags, duration_s, covers, video } = file;
  const title = titleTag(tags);
  const described = tagBlock(tags);
  if (described) await output.block(described);
  for (const chapter of chapterBlocks(chaptersOf(path, mediaType, tags), duration_s))
    await output.block(chapter);
  const pictures = covers.map((bytes) => ({ bytes }));
  for (const cover of await embeddedPictures(pictures, limits, pictureSpec)) await output.picture(cover);
  const everySeconds = Math.max(LOOK_EVERY_SECONDS, duration_s / LOOKS_MAX);
  const shots = new ShotMerger(limits.shotsMax, everySeconds);
  let looked = 0;
  const heard = new Gathered(output);
  const reading = file.read({
    everySeconds,
    keyFramesOnly: isLong(video, duration_s),
    // A recording that does not say how long it is, as browsers write them, shows it on the way.
    decodedPixelsMax: DECODED_PIXELS_MAX,
    ...(sound && { soundSecondsMax: duration_s || limits.mediaSecondsMax }),
  });
  for (const piece of reading) {
    if ('samples' in piece) {
      await heard.add(piece.samples);
      if (!video && duration_s > 0) output.progress(Math.min(1, heard.seconds / duration_s));
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
    if (++looked % TURN_EVERY_FRAMES === 0) await new Promise(setImmediate);
  }
  await heard.flush();
  for (const shot of shots.finish()) await output.picture(shot);
  return { ...(title !== undefined && { title }) };
}

/** The frame shown at a second of a film, or the last one that can be decoded before it; the first where there is none before. */
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
  return shrinkRaw({ ...shown, channels: 3 }, PICTURE_SIDE_PIXELS);
}

/** Sound in messages of some seconds. */
class Gathered {
  readonly #output: Output;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #all = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  get seconds(): number {
    return this.#all / (2 * SOUND_RATE);
  }

  async add(samples: Uint8Array): Promise<void> {
    this.#pieces.push(samples);
    this.#bytes += samples.length;
    this.#all += samples.length;
    if (this.#bytes >= SOUND_BYTES_AT_ONCE) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#bytes === 0) return;
    const whole = Buffer.concat(this.#pieces);
    [this.#pieces, this.#bytes] = [[], 0];
    await this.#output.sound(whole);
  }
}

function cue(text: string, time_s: number, duration_s: number): Block {
  return { text, time_s: rounded(time_s), time_end_s: rounded(time_s + duration_s), source: 'subtitle' };
}

/** Whether decoding every frame would take too long. Encoders put key frames at changes of the scene and every few seconds. */
function isLong(video: MediaFile['video'], duration_s: number): boolean {
  if (!video) return false;
  const { num, den } = video.avgFrameRate;
  const frames = duration_s * (den > 0 && num > 0 ? num / den : 30);
  return frames * video.codecpar.width * video.codecpar.height > DECODED_PIXELS_MAX;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
