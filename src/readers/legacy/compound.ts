import { CFB } from '@e965/xlsx';
import type { SourceFile } from '../reading/source-file.ts';

/** What a compound file (MS-CFB) begins with: documents of Office before 2007, and mails of Outlook. */
const START = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

export interface Compound {
  /** From the root on. */
  readonly FullPaths: readonly string[];
  readonly FileIndex: readonly { readonly content?: ArrayLike<number> }[];
}

export function isCompound(bytes: Uint8Array): boolean {
  return START.every((byte, at) => bytes[at] === byte);
}

/** The streams of a compound file in memory; undefined for other and for damaged files. */
export function compoundOf(bytes: Uint8Array): Compound | undefined {
  if (!isCompound(bytes)) return undefined;
  try {
    return CFB.read(bytes, { type: 'buffer' });
  } catch {
    return undefined;
  }
}

/** True for a compound file whose root has one of these streams. */
export function hasStream(file: SourceFile, names: readonly string[]): boolean {
  const compound = file.find(compoundOf);
  return compound !== undefined && names.some((name) => streamOf(compound, name) !== undefined);
}

/** A stream of the root. */
export function streamOf(compound: Compound, name: string): Uint8Array | undefined {
  const at = compound.FullPaths.findIndex((path) => /^[^/]*\/[^/]+$/.test(path) && path.endsWith(`/${name}`));
  const content = compound.FileIndex[at]?.content;
  return content && Uint8Array.from(content);
}
