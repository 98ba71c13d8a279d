import { type Metadata, readMetadata, type Scalar, scalarOf } from '@farthing/protocol/labels/metadata';
import { UsageError } from '../commands/command-set.ts';

/** `year=2024`, `draft=false`, `team=red` as metadata: what reads as a number, or as true or false, is one. @throws UsageError */
export function metadataOf(pairs: readonly string[] | undefined): Metadata | undefined {
  if (!pairs) return undefined;
  const fields = pairs.map((pair): [string, Scalar] => {
    const at = pair.indexOf('=');
    if (at < 1) throw new UsageError(`--meta: "${pair}" is no NAME=VALUE.`);
    return [pair.slice(0, at), scalarOf(pair.slice(at + 1))];
  });
  try {
    return readMetadata(JSON.stringify(Object.fromEntries(fields)));
  } catch (error) {
    throw new UsageError(`--meta: ${(error as { detail: string }).detail}`);
  }
}
