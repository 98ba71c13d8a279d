import { FarthingError } from '@farthing/protocol/error';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Peer } from '../peers/peer.ts';
import type { PeerCalls } from '../peers/peer-calls.ts';

/** Name of the call. */
const CALL = 'standby-remove';
/** A receipt waits so long for a server, and names it as one that may have a copy then. */
const ANSWER_MS_MAX = 3000;
const Request = Type.Object({ tenant: Type.String({ pattern: '^[A-Za-z0-9_-]{1,120}$' }) });

/** Has a server remove its copy of a Tenant that has ended. @returns whether it confirms that nothing is left */
export async function askToRemove(calls: PeerCalls, peer: Peer, tenant: string): Promise<boolean> {
  try {
    const { removed } = (await calls.call(peer, CALL, { tenant }, { timeoutMs: ANSWER_MS_MAX })) as {
      removed?: unknown;
    };
    return removed === true;
  } catch {
    return false;
  }
}

/** Answers `askToRemove`. @param remove resolves once nothing of the Tenant is here */
export function removalHandlers(
  remove: (tenant: string) => Promise<void>,
): Readonly<Record<string, (body: unknown) => Promise<object>>> {
  return {
    [CALL]: async (body) => {
      if (!Value.Check(Request, body)) throw new FarthingError('request_malformed', 'The call is malformed.');
      await remove(body.tenant);
      return { removed: true };
    },
  };
}
