import { FarthingError } from '@farthing/client';
import { session } from '../state/session.ts';

/** Runs a user's action and shows its error. */
export async function attempt(busy: string | undefined, work: () => Promise<void>): Promise<void> {
  session.set({ busy, fault: undefined });
  try {
    await work();
  } catch (error) {
    session.set({ fault: faultOf(error) });
  } finally {
    session.set({ busy: undefined });
  }
}

export function dismissFault(): void {
  session.set({ fault: undefined });
}

/** EIP-1193: the user declined. */
const USER_REJECTED = 4001;

/** An error for people. */
export function faultOf(error: unknown): string {
  if ((error as { code?: unknown } | null)?.code === USER_REJECTED)
    return 'The wallet refused to sign. Nothing was paid.';
  if (error instanceof FarthingError)
    return error.status === 402 ? `Not paid: ${error.detail}` : error.detail;
  return error instanceof Error ? error.message : String(error);
}

/** Whether the workspace's token opens nothing any more. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof FarthingError && error.status === 401;
}
