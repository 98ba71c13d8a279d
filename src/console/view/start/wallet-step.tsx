import type { ReadyAnswer } from '@farthing/client';
import { shortAddress } from '../../model/figures/format.ts';
import { isPlayMoney } from '../../model/figures/prices.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { takePlayWallet, takeWallet } from '../../model/wallet/choose.ts';
import { announced } from '../../model/wallet/wallet.ts';

/** The payer: chosen already where no money moves. */
export function WalletStep({ facts }: { facts: ReadyAnswer }) {
  const { wallet, busy } = useStore(session);
  const { list } = useStore(announced);
  const isPlay = isPlayMoney(facts);
  const others = list.filter(({ name }) => name !== wallet?.name);
  return (
    <fieldset class="step">
      <legend>
        <span class="number">1</span> Who pays
      </legend>
      {wallet && (
        <p class="chosen">
          <span class="dot" aria-hidden="true" /> {wallet.name} <code>{shortAddress(wallet.address)}</code>
        </p>
      )}
      <div class="wallets">
        {isPlay && wallet?.kind !== 'play' && (
          <button type="button" aria-disabled={busy !== undefined} onClick={() => void takePlayWallet()}>
            Use a play wallet
          </button>
        )}
        {others.map((wallet) => (
          <button
            type="button"
            key={wallet.name}
            aria-disabled={busy !== undefined}
            onClick={() => void takeWallet(wallet)}
          >
            Connect {wallet.name}
          </button>
        ))}
        {!isPlay && !wallet && list.length === 0 && (
          <p>No wallet was found in this browser. Install one that can sign, and reload.</p>
        )}
      </div>
      <p class="quiet">
        {isPlay
          ? 'This server checks real signatures, but no money moves: a play wallet made in this page will do.'
          : 'This server takes real USDC. The wallet signs one transfer of exactly the price.'}
      </p>
    </fieldset>
  );
}
