import { useState } from 'preact/hooks';
import type { ReadyAnswer } from '../../../client/index.ts';
import { formatPrice, shortAddress } from '../../model/format.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { announced } from '../../model/wallet/wallet.ts';
import {
  isPlayMoney,
  openWorkspace,
  priceOf,
  takePlayWallet,
  takeWallet,
} from '../../model/workspace/workspace.ts';

const MINUTES_OFFERED = [15, 60, 240, 1440];

/** The empty page: a wallet, some minutes, and the price. */
export function Start() {
  const { facts } = useStore(session);
  return (
    <div class="start">
      <section class="pitch">
        <h1>Search your files. Pay for the minutes. Leave nothing behind.</h1>
        <p>
          A workspace is a private index that lives for the time you buy. Drop text, PDFs and pictures into
          it; find them by meaning, by exact words or by what they show. At its end everything is destroyed,
          and you get a signed receipt.
        </p>
        <p class="quiet">No account, no cookie: a signed payment opens it, a token keeps it yours.</p>
      </section>
      {facts ? (
        <Order facts={facts} />
      ) : (
        <section class="card waiting" aria-busy="true">
          <p>Asking the server…</p>
        </section>
      )}
    </div>
  );
}

function Order({ facts }: { facts: ReadyAnswer }) {
  const { wallet, busy } = useStore(session);
  const { min, max } = facts.workspace_minutes;
  const [minutes, setMinutes] = useState(Math.min(Math.max(15, min), max));
  const [limit, setLimit] = useState('');
  const price = formatPrice(priceOf(facts, minutes));
  const offered = MINUTES_OFFERED.filter((offer) => offer >= min && offer <= max);
  const submit = (event: Event) => {
    event.preventDefault();
    if (wallet && !busy) void openWorkspace(minutes, limit);
  };
  return (
    <form class="card order" aria-labelledby="order-title" onSubmit={submit}>
      <h2 id="order-title">Open a workspace</h2>
      <WalletStep facts={facts} />
      <fieldset class="step">
        <legend>
          <span class="number">2</span> How long
        </legend>
        <div class="offers">
          {offered.map((offer) => (
            <label key={offer} class="offer">
              <input
                type="radio"
                name="minutes"
                value={offer}
                checked={minutes === offer}
                onChange={() => setMinutes(offer)}
              />
              <span>{offer < 60 ? `${offer} min` : `${offer / 60} h`}</span>
            </label>
          ))}
        </div>
        <div class="fields">
          <label>
            Minutes
            <input
              type="number"
              inputMode="numeric"
              min={min}
              max={max}
              required
              value={minutes}
              onInput={({ currentTarget }) => {
                const value = Math.round(Number(currentTarget.value));
                if (value >= min && value <= max) setMinutes(value);
              }}
            />
          </label>
          <label>
            Spend at most (USD)
            <input
              type="number"
              inputMode="decimal"
              min="0"
              step="0.0001"
              placeholder="no limit"
              value={limit}
              onInput={({ currentTarget }) => setLimit(currentTarget.value)}
            />
          </label>
        </div>
      </fieldset>
      <div class="step pay">
        <p class="price" aria-live="polite">
          <span class="number">3</span>
          <strong>{price}</strong> USD
          <span class="quiet">
            {' '}
            = {facts.prices_usd.workspace} + {minutes} × {facts.prices_usd.workspace_minute}
          </span>
        </p>
        <button type="submit" class="primary" disabled={!wallet || busy !== undefined}>
          {busy ?? 'Pay and open'}
        </button>
        {!wallet && <p class="quiet">Choose a wallet first.</p>}
      </div>
    </form>
  );
}

function WalletStep({ facts }: { facts: ReadyAnswer }) {
  const { wallet, busy } = useStore(session);
  const { list } = useStore(announced);
  const play = isPlayMoney(facts);
  return (
    <fieldset class="step">
      <legend>
        <span class="number">1</span> Who pays
      </legend>
      {wallet ? (
        <p class="chosen">
          <span class="dot" aria-hidden="true" /> {wallet.name} <code>{shortAddress(wallet.address)}</code>
        </p>
      ) : (
        <div class="wallets">
          {play && (
            <button type="button" disabled={busy !== undefined} onClick={() => void takePlayWallet()}>
              Use a play wallet
            </button>
          )}
          {list.map((one) => (
            <button
              type="button"
              key={one.name}
              disabled={busy !== undefined}
              onClick={() => void takeWallet(one)}
            >
              Connect {one.name}
            </button>
          ))}
          {!play && list.length === 0 && (
            <p>No wallet was found in this browser. Install one that can sign, and reload.</p>
          )}
        </div>
      )}
      <p class="quiet">
        {play
          ? 'This server checks real signatures, but no money moves: a play wallet made in this page will do.'
          : 'This server takes real USDC. The wallet signs one transfer of exactly the price.'}
      </p>
    </fieldset>
  );
}
