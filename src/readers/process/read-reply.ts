import type {
  Block,
  Charset,
  DocumentKind,
  FileInfo,
  Mark,
  PictureContent,
} from '@farthing/protocol/document';
import { ERRORS, type ErrorCode, FarthingError } from '@farthing/protocol/error';
import { printable, visible, visibleWith } from '@farthing/protocol/file/file-name';
import {
  type NotRead,
  UNREAD_PARTS,
  UNREAD_REASONS,
  type UnreadPart,
  type UnreadReason,
} from '@farthing/protocol/file/not-read';
import type { Preview } from '@farthing/protocol/file/preview';
import { type Box, PAGE_KINDS, TEXT_SOURCES } from '@farthing/protocol/file/segment';
import type { ConfinementReport, Reply } from './messages.ts';

/** Checks everything in a reader process's message: a decoder may have been taken over. @throws TypeError. */
export function readReply(header: unknown, body: Buffer): Reply {
  const message = asObject(header);
  switch (message.reply) {
    case 'ready':
      return { reply: 'ready', confinement: readConfinement(asObject(message.confinement)) };
    case 'progress':
      return { reply: 'progress', fraction: Math.min(1, Math.max(0, asNumber(message.fraction))) };
    case 'blocks':
      return { reply: 'blocks', blocks: asArray(message.blocks).map(readBlock) };
    case 'picture':
      return { reply: 'picture', picture: readPicture(message, body) };
    case 'preview':
      return { reply: 'preview', preview: readPreview(message, body) };
    case 'sound':
      return { reply: 'sound', samples: readSamples(body) };
    case 'member':
      return {
        reply: 'member',
        path: asOptionalText(message.path),
        piece: body,
        last: message.last === true,
        ...(message.refused !== undefined && { refused: readRefusal(asObject(message.refused)) }),
      };
    case 'done':
      return {
        reply: 'done',
        fileInfo: message.fileInfo === undefined ? undefined : readFileInfo(asObject(message.fileInfo)),
        title: asOptionalTitle(message.title),
        wasRead: message.wasRead === true,
        ...(message.textless !== undefined && { textless: asArray(message.textless).map(asCount) }),
        ...(message.scenes !== undefined && { scenes: asArray(message.scenes).map(asCount) }),
        ...(message.notRead !== undefined && { notRead: readNotRead(asArray(message.notRead)) }),
        worn: message.worn === true,
      };
    case 'refused':
      return { reply: 'refused', error: readRefusal(message) };
    default:
      throw new TypeError('an unknown message');
  }
}

function readConfinement(value: Record<string, unknown>): ConfinementReport {
  return {
    noNewPrivileges: asText(value.noNewPrivileges),
    landlock: asText(value.landlock),
    seccomp: asText(value.seccomp),
    memoryLimit: asText(value.memoryLimit),
  };
}

function readBlock(value: unknown): Block {
  const { text, page, heading, marks, source, confidence, ...times } = asObject(value);
  return {
    ...visibleWith(asText(text), marks === undefined ? undefined : asArray(marks).map(readMark)),
    ...(page !== undefined && { page: asCount(page) }),
    ...(heading !== undefined && { heading: visible(asText(heading)) }),
    ...readTimes(times),
    ...(source !== undefined && { source: asOneOf(source, TEXT_SOURCES) }),
    ...(confidence !== undefined && { confidence: asShare(confidence) }),
  };
}

function readMark(value: unknown): Mark {
  const { at, box } = asObject(value);
  return { at: asCount(at), box: readBox(asObject(box)) };
}

function readBox({ x, y, width, height }: Record<string, unknown>): Box {
  return { x: asShare(x), y: asShare(y), width: asShare(width), height: asShare(height) };
}

function readTimes({ time_s, time_end_s }: Record<string, unknown>): {
  time_s?: number;
  time_end_s?: number;
} {
  return {
    ...(time_s !== undefined && { time_s: asSeconds(time_s) }),
    ...(time_end_s !== undefined && { time_end_s: asSeconds(time_end_s) }),
  };
}

function readPicture(
  { width, height, page, lengths, ...times }: Record<string, unknown>,
  body: Buffer,
): PictureContent {
  const [pixels, fingerprint, digest] = asArray(lengths).map(asCount);
  if (
    pixels === undefined ||
    fingerprint === undefined ||
    digest !== 32 ||
    pixels + fingerprint + digest !== body.length
  ) {
    throw new TypeError('a picture of wrong lengths');
  }
  return {
    // Copies: the body is part of a larger buffer, which would stay in memory.
    pixels: { rgb: new Uint8Array(body.subarray(0, pixels)) },
    fingerprint: new Uint8Array(body.subarray(pixels, pixels + fingerprint)),
    digest: new Uint8Array(body.subarray(pixels + fingerprint)),
    width: asCount(width),
    height: asCount(height),
    ...(page !== undefined && { page: asCount(page) }),
    ...readTimes(times),
  };
}

/** A copy in a buffer of its own, which can be given to a thread. */
function readSamples(body: Buffer): Int16Array {
  const samples = new Int16Array(body.length >> 1);
  new Uint8Array(samples.buffer).set(body.subarray(0, samples.byteLength));
  return samples;
}

const PREVIEW_BYTES_MAX = 4 * 2 ** 20;

/** Browsers get only what begins as a WebP of a plausible size. */
function readPreview({ width, height }: Record<string, unknown>, body: Buffer): Preview {
  const isWebp =
    body.length <= PREVIEW_BYTES_MAX &&
    body.toString('latin1', 0, 4) === 'RIFF' &&
    body.toString('latin1', 8, 12) === 'WEBP';
  if (!isWebp) throw new TypeError('a preview that is no WebP');
  return { bytes: new Uint8Array(body), width: asCount(width), height: asCount(height) };
}

const KINDS: readonly DocumentKind[] = ['text', 'document', 'picture', 'video', 'audio', 'archive'];

function readFileInfo(value: Record<string, unknown>): FileInfo {
  const kind = asOneOf(value.kind, KINDS);
  const counts: { pages?: number; width?: number; height?: number; members?: number; membersBytes?: number } =
    {};
  for (const name of ['pages', 'width', 'height', 'members', 'membersBytes'] as const) {
    if (value[name] !== undefined) counts[name] = asCount(value[name]);
  }
  const title = asOptionalTitle(value.title);
  return {
    kind,
    mediaType: asText(value.mediaType),
    ...counts,
    ...(value.pageKind !== undefined && { pageKind: asOneOf(value.pageKind, PAGE_KINDS) }),
    ...(value.notSearchable !== undefined && { notSearchable: asArray(value.notSearchable).map(asText) }),
    ...(value.duration_s !== undefined && { duration_s: asSeconds(value.duration_s) }),
    ...(title !== undefined && { title }),
    ...(value.charset !== undefined && { charset: readCharset(asObject(value.charset)) }),
  };
}

const PARTS = Object.keys(UNREAD_PARTS) as UnreadPart[];
const REASONS = Object.keys(UNREAD_REASONS) as UnreadReason[];

function readNotRead(values: readonly unknown[]): NotRead[] {
  if (values.length > PARTS.length * REASONS.length) throw new TypeError('a part named twice');
  return values.map((value) => {
    const { what, count, why } = asObject(value);
    return {
      what: asOneOf(what, PARTS),
      ...(count !== undefined && { count: asCount(count) }),
      why: asOneOf(why, REASONS),
    };
  });
}

/** As the Encoding Standard spells names. */
const CHARSET_NAME = /^[a-z0-9][a-z0-9_:-]{0,39}$/;

function readCharset({ name, guessed }: Record<string, unknown>): Charset {
  const word = asText(name);
  if (!CHARSET_NAME.test(word)) throw new TypeError('a name of no character set');
  return { name: word, guessed: guessed === true };
}

function readRefusal({ code, detail, facts }: Record<string, unknown>): FarthingError {
  const known =
    typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'extraction_failed';
  return new FarthingError(known, asText(detail), { facts: asObject(facts) });
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no object');
  return value as Record<string, unknown>;
}

function asArray(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return value;
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value.toWellFormed();
}

function asOptionalText(value: unknown): string | undefined {
  return value === undefined ? undefined : asText(value);
}

function asOptionalTitle(value: unknown): string | undefined {
  return value === undefined ? undefined : printable(asText(value));
}

function asNumber(value: unknown, least = -Number.MAX_VALUE, most = Number.MAX_VALUE): number {
  if (typeof value !== 'number' || !(value >= least && value <= most)) throw new TypeError('no such number');
  return value;
}

function asCount(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new TypeError('no count');
  return asNumber(value, 0);
}

function asSeconds(value: unknown): number {
  return asNumber(value, 0);
}

function asShare(value: unknown): number {
  return asNumber(value, 0, 1);
}

function asOneOf<T extends string>(value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((word) => word === value);
  if (found === undefined) throw new TypeError('an unknown word');
  return found;
}
