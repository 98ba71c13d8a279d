import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';

/** Seconds of a processor that opening such a text takes at most. */
export const TEXT_SECONDS = 0.1;

/** Larger texts wait for their turn. */
const BYTES_MAX = 64 * 1024;
/** What begins another format, or has members: a mail, a calendar, a card, RTF, JSON, PDF. */
const BEGINS_ANOTHER = /^\s*(?:[{[%]|BEGIN:|From |[\w-]+:\s)/i;
/** Markup, and characters that texts do not have. */
const UNPLAIN = /[^\s!-;=-ÿ]/;

/**
 * Whether a file is certainly a small text without markup, which is opened in no time: it need not wait behind files of which nobody knows
 * how long they take. Nothing is decoded.
 */
export function isPlainText(path: string, size: number): boolean {
  if (size > BYTES_MAX) return false;
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(size);
    if (readSync(file, bytes) !== size || !isUtf8(bytes)) return false;
    const text = bytes.toString('latin1');
    return !UNPLAIN.test(text) && !BEGINS_ANOTHER.test(text);
  } finally {
    closeSync(file);
  }
}
