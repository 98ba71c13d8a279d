/** Who moves the money: outside of the server that is killed, with books of its own. */
export interface Outside {
  /** By which the server finds it. */
  readonly settings: Readonly<Record<string, string>>;
  /** False: a payment in advance whose answer is lost stays pending, as nothing shows by what its nonce was used. */
  readonly provesAdvances: boolean;
  /** nonce → amount moved. */
  readonly transfers: ReadonlyMap<string, bigint>;
  /** Lets these wallets pay. */
  begin(payers: readonly `0x${string}`[]): Promise<void>;
  /** Goes wrong no more, and comes to rest. @returns what is wrong with its books then */
  calm(): Promise<string[]>;
  /** How often each fault came. */
  counts(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}
