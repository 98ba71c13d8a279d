import { shortAddress } from '../../model/format.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { leaveWallet } from '../../model/wallet/choose.ts';

/** The wallet that pays, by its short address. */
export function WalletChip() {
  const { wallet } = useStore(session);
  if (!wallet) return null;
  return (
    <details class="chip">
      <summary aria-label={`${wallet.name} ${shortAddress(wallet.address)}`}>
        <span class="dot" aria-hidden="true" />
        <span class="chip-name">{wallet.name} </span>
        <code>{shortAddress(wallet.address)}</code>
      </summary>
      <div class="chip-menu">
        <code class="whole">{wallet.address}</code>
        {wallet.kind === 'play' && (
          <p>Its key is stored in this browser only. It holds play money, which is worth nothing.</p>
        )}
        <button type="button" onClick={leaveWallet}>
          Disconnect
        </button>
      </div>
    </details>
  );
}
