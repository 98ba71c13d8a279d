import { type AtomicAmount, formatUsd } from '@farthing/protocol/money';
import type { Voice } from '@farthing/protocol/schema/facts';

/** Figures as the page shows them. */

/** Dollars with at least two decimals, without trailing zeros beyond. */
export function formatPrice(amount: AtomicAmount): string {
  const [whole, fraction = ''] = formatUsd(amount).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

export function formatMs(milliseconds: number): string {
  return milliseconds < 10 ? milliseconds.toFixed(1) : String(Math.round(milliseconds));
}

/** A share of 1 in percent; small shares are not rounded to zero. */
export function formatShare(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? '< 1 %' : `${percent} %`;
}

/** For screen readers: “4 minutes”. */
export function sayDuration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return 'less than a minute';
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
  return `${Math.floor(minutes / 60)} hours`;
}

export function shortAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

export function formatTime(rfc3339: unknown): string {
  const time = new Date(String(rfc3339));
  return Number.isNaN(time.getTime())
    ? String(rfc3339)
    : time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Each kind of value on the page. */
export const VOICE: Voice = {
  share: (share: number, { label }) => `${formatShare(share)} ${label}`.trim(),
  time: formatTime,
};
