import { fileTypeFromBuffer } from 'file-type';

const PROBE_BYTES = 256 * 1024;

/** The media type that a file's signature says, in file-type's names; undefined for an unknown one. */
export async function detectedType(bytes: Uint8Array): Promise<string | undefined> {
  // It throws on some damaged headers.
  const found = await fileTypeFromBuffer(bytes.subarray(0, PROBE_BYTES)).catch(() => undefined);
  return found?.mime;
}
