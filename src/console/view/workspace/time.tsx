import { clockText } from '@farthing/protocol/figures';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatPrice } from '../../model/figures/format.ts';
import { extensionPrice } from '../../model/figures/prices.ts';
import { refreshUsage } from '../../model/server/usage.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { extend, sayTimeLeft } from '../../model/workspace/workspace.ts';

const TICK_MS = 1000;
const FEW_SECONDS = 120;
const STEPS = [15, 60, 240];

/** The time left, and a button that buys more. */
export function Time() {
  const { facts, wallet, busy } = useStore(session);
  const [minutes, setMinutes] = useState(STEPS[0]!);
  const price = facts && formatPrice(extensionPrice(facts, minutes));
  const submit = (event: Event) => {
    event.preventDefault();
    void extend(minutes);
  };
  return (
    <div class="time">
      <h2>Time left</h2>
      <p class="clock">
        <Clock />
      </p>
      <form class="extend" onSubmit={submit}>
        <label>
          <span class="unseen">Minutes to add</span>
          <select value={minutes} onChange={({ currentTarget }) => setMinutes(Number(currentTarget.value))}>
            {STEPS.map((step) => (
              <option key={step} value={step}>
                + {step} min
              </option>
            ))}
          </select>
        </label>
        <button
          type="submit"
          aria-disabled={!wallet || busy !== undefined}
          title={wallet ? undefined : 'Connect a wallet first'}
        >
          Pay {price} USD
        </button>
      </form>
    </div>
  );
}

/** The time left, running. */
export function Clock() {
  const { endsAt } = useStore(session);
  const left = useSecondsLeft(endsAt);
  if (left === undefined) return <span>–</span>;
  return (
    <span class="time-left" data-few={left < FEW_SECONDS} role="timer" aria-label={sayTimeLeft(left)}>
      {clockText(left)}
    </span>
  );
}

function useSecondsLeft(endsAt: number | undefined): number | undefined {
  const [now, setNow] = useState(performance.now());
  const asked = useRef(false);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  const left =
    endsAt === undefined ? undefined : Math.max(0, (endsAt - Math.max(now, performance.now())) / 1000);
  useEffect(() => {
    if (left === 0 && !asked.current) {
      asked.current = true;
      void refreshUsage().catch(() => undefined);
    } else if (left !== 0) asked.current = false;
  }, [left]);
  return left;
}
