import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { native } from '@farthing/native';
import { PrepaidBalances } from '@farthing/payment/prepaid/balances';
import { Journal, type JournalEntry, paymentOf } from '@farthing/payment/records/journal';
import { Ledger } from '@farthing/payment/records/ledger';
import { systemClock } from '@farthing/protocol/clock';
import { Credits } from '../../purchases/credits.ts';
import { bookFolders } from '../../state/book-folders.ts';
import { openStore } from '../../state/store.ts';
import { prepaidTerms } from '../../wiring/prepaid-terms.ts';
import { type CommandIo, dataFolder, settingsOf } from '../io.ts';
import type { LedgerSource } from '../running/ledger-stream.ts';
import { liabilitiesOf } from '../running/liabilities.ts';
import { readRunningLedger } from '../running/running-ledger.ts';

/** Opens the ledger of the settings. A running server is queried through its socket. @throws Error with the remedy */
export async function openLedger(io: CommandIo): Promise<LedgerSource> {
  const folder = dataFolder(io);
  const states = (await bookFolders(folder)).map((books) => join(books, 'state'));
  if (!states.every((state) => existsSync(state)))
    throw new Error(`FARTHING_DATA_DIR=${folder}: there is no ledger here`);
  const lock = native.lockFolder(folder);
  if (!lock) return readRunningLedger(folder);
  const stores = states.map((state) => openStore(state));
  const terms = prepaidTerms(settingsOf(io));
  const owing = stores.map((store) => ({
    prepaid: new PrepaidBalances({ store, clock: systemClock, ...terms }),
    credits: new Credits({ store, clock: systemClock }),
  }));
  const ledger = new Ledger(stores.map((store) => new Journal(store)));
  return {
    entries: (since) => ledger.entries(since),
    liabilities: async () => liabilitiesOf(owing),
    sums: async () => ({ totals: ledger.totals(), dropped: ledger.dropped() }),
    close: async () => {
      for (const store of stores) await store.close();
      lock.release();
    },
  };
}

const markOf = ({ kind, time }: JournalEntry) => `${kind}/${time}`;

/**
 * One entry a payment, its last: a settlement that was pending stands in the ledger twice. Read twice; what was added after the first
 * reading is left out. Memory: of payments that were anything but settled at once.
 */
export async function* lastStates(source: LedgerSource, since: number): AsyncGenerator<JournalEntry> {
  const last = new Map<string, string>();
  let end = Number.NEGATIVE_INFINITY;
  for await (const entry of source.entries(since)) {
    const payment = paymentOf(entry);
    const isSettledAtOnce = ['settled', 'prepaid', 'returned', 'voucher', 'claimed'].includes(entry.kind);
    if (!isSettledAtOnce || last.has(payment)) last.set(payment, markOf(entry));
    end = entry.time;
  }
  for await (const entry of source.entries(since)) {
    if (entry.time > end) return;
    const mark = last.get(paymentOf(entry));
    if (mark === undefined || mark === markOf(entry)) yield entry;
  }
}
