import type { Timing } from '@farthing/client';
import { formatMs } from '../../model/figures/format.ts';

/** The stages of a search in milliseconds, as a bar and in words; folded away. */
export function TimingBar({ timing, roundTripMs }: { timing: Timing; roundTripMs: number }) {
  const { verify_ms = 0, settle_ms = 0, encode_ms = 0, scan_ms = 0, fuse_ms = 0, total_ms = 0 } = timing;
  const payment = verify_ms + settle_ms;
  const parts = [
    { name: 'payment', label: 'Payment', ms: payment, note: payment === 0 ? 'included' : undefined },
    { name: 'encode', label: 'Encode', ms: encode_ms },
    { name: 'scan', label: 'Scan', ms: scan_ms },
    { name: 'fuse', label: 'Fuse', ms: fuse_ms },
    {
      name: 'rest',
      label: 'Rest of the server',
      ms: Math.max(0, total_ms - payment - encode_ms - scan_ms - fuse_ms),
    },
    { name: 'network', label: 'Network and page', ms: Math.max(0, roundTripMs - total_ms) },
  ];
  return (
    <details class="timing">
      <summary>Timing</summary>
      <div class="bar" aria-hidden="true">
        {parts.map(({ name, ms }) => ms > 0 && <i key={name} data-part={name} style={{ flexGrow: ms }} />)}
      </div>
      <ul>
        {parts.map(({ name, label, ms, note }) => (
          <li key={name} data-part={name}>
            {label} <b>{note ?? `${formatMs(ms)} ms`}</b>
          </li>
        ))}
      </ul>
    </details>
  );
}
