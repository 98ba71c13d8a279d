import { type Outcome, type Target, upload } from './requests.ts';

export interface HostileCase {
  readonly name: string;
  /** What may come of it; everything else is a fault. */
  readonly expect: readonly Outcome[];
  readonly send: (target: Target) => Promise<Outcome>;
  /** Takes long, or much of the network: left out of `make test`. */
  readonly costly?: boolean;
  /** Ends when the server has waited long enough: others may be sent at the same time. */
  readonly waits?: boolean;
}

export const DAMAGED = ['file_corrupt', 'file_empty', 'media_type_unsupported', 'extraction_failed'];
export const TOO_LARGE = ['document_too_large', 'file_too_large'];
export const GIVEN_UP = ['extraction_timeout', 'extraction_failed', ...TOO_LARGE, 'file_corrupt'];

export function file(
  name: string,
  make: Uint8Array | string | ((target: Target) => Uint8Array | string),
  expect: readonly Outcome[],
  sentAs = name,
): HostileCase {
  const send = (target: Target): Promise<Outcome> => {
    const content = typeof make === 'function' ? make(target) : make;
    return upload(target, sentAs, Buffer.from(content));
  };
  return { name, expect, send };
}
