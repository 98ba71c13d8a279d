/** Figures as people read them. */

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];
const STEP = 1000;

/** `1 file`, `2 files` */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? singular : plural}`;
}

/** `0.90 USD`, `0.0175 USD` @param usd a decimal */
export function usdText(usd: string): string {
  const [whole, cents = ''] = usd.split('.');
  return `${whole}.${cents.padEnd(2, '0')} USD`;
}

/** `1.2 MB` */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  const value = bytes / STEP ** power;
  return `${power === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** `1:02:03` or `2:03` */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}
