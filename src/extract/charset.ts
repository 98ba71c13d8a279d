/** Control characters that text does not hold. A byte that Windows-1252 leaves undefined decodes to one as well. */
const FOREIGN_CONTROL = /(?![\t\n\f\r])\p{Cc}/gu;

/** Share of control characters above which bytes are no text: compressed data has a tenth, a coloured log a hundredth. */
const FOREIGN_SHARE_MAX = 0.02;

/** Bytes of the start that decide which character set it is. */
const PROBE_BYTES = 256 * 1024;

/**
 * Decodes text: UTF-8, UTF-16 (with or without a byte order mark) or Windows-1252, which Latin-1 is a part of.
 * @returns undefined when the bytes are no text. Control characters that remain are dropped, line ends become "\n".
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const charset = recogniseCharset(bytes);
  if (!charset) return undefined;
  const text = new TextDecoder(charset).decode(bytes);
  return withoutControls(text.replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
}

export function withoutControls(text: string): string {
  return text.replace(FOREIGN_CONTROL, '');
}

function recogniseCharset(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  const probe = bytes.subarray(0, PROBE_BYTES);
  const utf16 = recogniseUtf16(probe);
  const charset = utf16 ?? (isUtf8(probe) ? 'utf-8' : 'windows-1252');
  const decoded = new TextDecoder(charset).decode(probe);
  const foreign = decoded.match(FOREIGN_CONTROL)?.length ?? 0;
  return foreign <= decoded.length * FOREIGN_SHARE_MAX ? charset : undefined;
}

/** By its mark; without one, by zeros in every other byte, as Latin letters have them. */
function recogniseUtf16(probe: Uint8Array): string | undefined {
  if (probe[0] === 0xff && probe[1] === 0xfe) return 'utf-16le';
  if (probe[0] === 0xfe && probe[1] === 0xff) return 'utf-16be';
  const pairs = Math.floor(probe.length / 2);
  let even = 0;
  let odd = 0;
  for (let index = 0; index < pairs; index++) {
    if (probe[2 * index] === 0) even++;
    if (probe[2 * index + 1] === 0) odd++;
  }
  if (pairs < 4) return undefined;
  if (odd > pairs * 0.4 && even < pairs * 0.02) return 'utf-16le';
  return even > pairs * 0.4 && odd < pairs * 0.02 ? 'utf-16be' : undefined;
}

function isUtf8(probe: Uint8Array): boolean {
  try {
    // A letter that the end of the probe cuts in two is no fault.
    new TextDecoder('utf-8', { fatal: true }).decode(probe, { stream: true });
    return true;
  } catch {
    return false;
  }
}
