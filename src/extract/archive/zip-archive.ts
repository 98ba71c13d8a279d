import type { ExtractLimits } from '../../domain/document.ts';
import { FarthingError } from '../../domain/error.ts';
import type { MakeReader } from '../reading/format-reader.ts';
import { giveBytes, type MemberSink } from '../reading/sink.ts';
import { packageType } from './package-type.ts';
import { isWanted, memberRefusal, UnpackBudget } from './unpack-budget.ts';
import { isZip, unpackEntry, type ZipEntry, zipEntries } from './zip-directory.ts';

/** A zip of files, which is no package of a program: formats that are packages are asked before it. */
export const zip: MakeReader = (mediaType) => ({
  rejects: (file) => file.find(packageType),
  sniff: ({ bytes }) => isZip(bytes),
  open: ({ bytes }, { limits }) => {
    const budget = new UnpackBudget(limits);
    const entries = wantedEntries(bytes);
    for (const entry of entries) budget.add(entry.bytes);
    return { kind: 'archive', mediaType, ...budget.total() };
  },
  unpack: async ({ bytes }, { limits }, sink) => {
    const budget = new UnpackBudget(limits);
    for (const entry of wantedEntries(bytes)) {
      budget.add(entry.bytes);
      await sink.begin(entry.name);
      await unpackMember(bytes, entry, limits, sink);
    }
  },
});

function wantedEntries(bytes: Uint8Array): ZipEntry[] {
  return zipEntries(bytes).filter(({ name, isFile }) => isWanted({ path: name, isFile }));
}

/** A member that is damaged, too large or has a password is refused alone. */
async function unpackMember(
  bytes: Uint8Array,
  entry: ZipEntry,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  const refusal = memberRefusal(entry.bytes, limits);
  if (refusal) return sink.end(refusal);
  let content: Uint8Array;
  try {
    content = unpackEntry(bytes, entry);
  } catch (error) {
    if (!(error instanceof FarthingError)) throw error;
    return sink.end(error);
  }
  await giveBytes(content, sink);
  await sink.end();
}
