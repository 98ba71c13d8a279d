import type { ExtractLimits } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import { giveBytes, type MemberSink } from '../reading/sink.ts';
import { memberRefusal, UnpackBudget } from './unpack-budget.ts';

/** A member that an archive's list names, of so many bytes once it is unpacked. */
export interface Member {
  readonly name: string;
  readonly bytes: number;
}

/** What an archive holds, by its list alone. @throws document_too_large, file_empty */
export function countMembers(members: readonly Member[], limits: ExtractLimits) {
  const budget = new UnpackBudget(limits);
  for (const { bytes } of members) budget.add(bytes);
  return budget.total();
}

/**
 * Gives out each member in order. One that is damaged, too large, has a password or an unknown way of packing is refused alone.
 * @param unpack its content @throws document_too_large
 */
export async function giveMembers<M extends Member>(
  members: readonly M[],
  unpack: (member: M) => Uint8Array,
  limits: ExtractLimits,
  sink: MemberSink,
): Promise<void> {
  const budget = new UnpackBudget(limits);
  for (const member of members) {
    budget.add(member.bytes);
    await sink.begin(member.name);
    const content = memberRefusal(member.bytes, limits) ?? unpacked(member, unpack);
    if (content instanceof FarthingError) await sink.end(content);
    else {
      await giveBytes(content, sink);
      await sink.end();
    }
  }
}

function unpacked<M>(member: M, unpack: (member: M) => Uint8Array): Uint8Array | FarthingError {
  try {
    return unpack(member);
  } catch (error) {
    if (error instanceof FarthingError) return error;
    throw error;
  }
}
