import { type AtomicAmount, formatUsd } from '@farthing/protocol/money';

/** Figures as people read them. */

/** Dollars with at least two decimals, without trailing zeros beyond. */
export function formatPrice(amount: AtomicAmount): string {
  const [whole, fraction = ''] = formatUsd(amount).split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/** `1 file`, `2 files`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function formatMs(milliseconds: number): string {
  return milliseconds < 10 ? milliseconds.toFixed(1) : String(Math.round(milliseconds));
}

/** A share of 1 in percent; small shares are not rounded to zero. */
export function formatShare(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? '< 1 %' : `${percent} %`;
}

/** 1:02:03 or 2:03. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
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
