import type { ReadyAnswer } from '@farthing/client';
import { parseUsd } from '@farthing/protocol/money';
import { useState } from 'preact/hooks';
import { formatPrice } from '../../model/figures/format.ts';
import { isPlayMoney, minutesOf, priceOf } from '../../model/figures/prices.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { trySamples } from '../../model/workspace/visit.ts';
import { rentWorkspace } from '../../model/workspace/workspace.ts';
import { WalletStep } from './wallet-step.tsx';

const MINUTES_OFFERED = [15, 60, 240, 1440];

/** A wallet, some minutes, and the price. */
export function Order({ facts }: { facts: ReadyAnswer }) {
  const { wallet, busy, filesWaiting } = useStore(session);
  const [minutesText, setMinutes] = useState(String(minutesOf('15', facts.workspace_minutes)));
  const [limit, setLimit] = useState('');
  const minutes = minutesOf(minutesText, facts.workspace_minutes);
  const price = priceOf(facts, minutes);
  const isLimitLow = limit !== '' && parseUsd(Number(limit).toFixed(6)) < price;
  const mayPay = wallet !== undefined && busy === undefined && !isLimitLow;
  const submit = (event: Event) => {
    event.preventDefault();
    setMinutes(String(minutes));
    if (mayPay) void rentWorkspace(minutes, limit);
  };
  return (
    <form class="card order" aria-labelledby="order-title" onSubmit={submit} noValidate>
      <h2 id="order-title">Open a workspace</h2>
      <WalletStep facts={facts} />
      <fieldset class="step">
        <legend>
          <span class="number">2</span> How long
        </legend>
        <Offers facts={facts} minutes={minutes} onChange={(offer) => setMinutes(String(offer))} />
        <div class="fields">
          <label>
            Minutes
            <input
              type="text"
              inputMode="numeric"
              value={minutesText}
              aria-describedby="minutes-note"
              onInput={({ currentTarget }) => setMinutes(currentTarget.value)}
              onBlur={() => setMinutes(String(minutes))}
            />
          </label>
          <label>
            Spend at most (USD)
            <input
              type="number"
              inputMode="decimal"
              min="0"
              step="any"
              placeholder="no limit"
              value={limit}
              aria-invalid={isLimitLow}
              aria-describedby="limit-note"
              onInput={({ currentTarget }) => setLimit(currentTarget.value)}
            />
          </label>
        </div>
        <p class="quiet" id="minutes-note" aria-live="polite">
          {noteOf(minutesText, minutes, facts.workspace_minutes)}
        </p>
        <p class="why" id="limit-note" aria-live="polite">
          {isLimitLow && `The limit is below the price of ${formatPrice(price)} USD.`}
        </p>
      </fieldset>
      <fieldset class="step pay">
        <legend>
          <span class="number">3</span> Pay
        </legend>
        <p class="price" aria-live="polite">
          <strong>{formatPrice(price)}</strong> USD
          <span class="quiet">
            {' '}
            = {facts.prices_usd.workspace} + {minutes} × {facts.prices_usd.workspace_minute}
          </span>
        </p>
        <button type="submit" class="primary" aria-disabled={!mayPay}>
          {busy ?? 'Pay and open'}
        </button>
        {filesWaiting.length > 0 && (
          <p class="quiet">
            {filesWaiting.length === 1 ? 'The dropped file is' : `${filesWaiting.length} dropped files are`}{' '}
            added then.
          </p>
        )}
        {!wallet && <p class="quiet">Choose a wallet first.</p>}
        {wallet && isPlayMoney(facts) && (
          <button
            type="button"
            aria-disabled={busy !== undefined}
            onClick={() => void trySamples(minutes, isLimitLow ? '' : limit)}
          >
            Pay and try it with sample files
          </button>
        )}
      </fieldset>
    </form>
  );
}

interface OffersProps {
  readonly facts: ReadyAnswer;
  readonly minutes: number;
  readonly onChange: (minutes: number) => void;
}

function Offers({ facts, minutes, onChange }: OffersProps) {
  const { min, max } = facts.workspace_minutes;
  return (
    <div class="offers">
      {MINUTES_OFFERED.filter((offer) => offer >= min && offer <= max).map((offer) => (
        <label key={offer} class="offer">
          <input
            type="radio"
            name="minutes"
            value={offer}
            checked={minutes === offer}
            onChange={() => onChange(offer)}
          />
          <span>{offer < 60 ? `${offer} min` : `${offer / 60} h`}</span>
        </label>
      ))}
    </div>
  );
}

function noteOf(text: string, minutes: number, { min, max }: ReadyAnswer['workspace_minutes']): string {
  const isTaken = Number(text) === minutes && text.trim() !== '';
  return isTaken ? '' : `From ${min} to ${max} minutes are sold: it will be ${minutes}.`;
}
