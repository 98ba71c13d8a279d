/** Bytes of a file from `from` up to `to`, which is not among them. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The one range that a request wants of a file (RFC 9110, 14.2).
 * @param ifRange the `ETag` that the client's part of the file had
 * @returns undefined to send all of it: no range is requested, several are, none that the file has, or the file is another one
 */
export function rangeOf(
  header: string | undefined,
  ifRange: string | undefined,
  { bytes, etag }: { readonly bytes: number; readonly etag: string },
): ByteRange | undefined {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '');
  if (!match || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  return from < to ? { from, to } : undefined;
}
