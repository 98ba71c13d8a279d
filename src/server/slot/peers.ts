import { HttpPeerCalls } from '../../peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../../peers/peer-signature.ts';
import { peerHandlers } from '../../purchases/peer-handlers.ts';
import { PeerPurchases } from '../../purchases/peer-purchases.ts';
import { secretOf } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import type { AcrossSlots, PaidPlace } from './across-slots.ts';

/** How this server knows the others, and what they may ask of it. */
export interface Peers {
  readonly signatures: PeerSignatures;
  readonly handlers: ReturnType<typeof peerHandlers>;
  close(): void;
}

/** Lets payments of this server's slots do something in those of others, and the other way round. */
export async function openPeers(
  settings: Settings,
  across: AcrossSlots,
  placeOf: (id: string) => PaidPlace,
): Promise<Peers> {
  const signatures = new PeerSignatures(
    peerKeysOf(await secretOf(settings, 'CLUSTER_KEY')),
    settings.NODE_ID,
  );
  const calls = new HttpPeerCalls(signatures);
  across.share({ placeOf, peers: new PeerPurchases(calls) });
  return { signatures, handlers: peerHandlers((id) => across.booksHere(id)), close: () => calls.close() };
}
