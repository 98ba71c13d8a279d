import { createInterface } from 'node:readline';
import type { JournalEntry } from '@farthing/payment/records/journal';
import type { LedgerEnd, LedgerSource } from './ledger-stream.ts';
import { LEDGER_PATH, openAnswer } from './operator-socket.ts';

/** The ledger of the server that runs over a data folder. Its reading throws what to do when none answers. */
export function readRunningLedger(data: string): LedgerSource {
  const lines = async function* (since: number): AsyncGenerator<JournalEntry | LedgerEnd> {
    const { answer, close } = await openAnswer(data, 'GET', `/${LEDGER_PATH}?since=${since}`);
    try {
      for await (const line of createInterface({ input: answer })) yield JSON.parse(line);
    } finally {
      await close();
    }
  };
  const end = async (): Promise<LedgerEnd> => {
    for await (const line of lines(Number.MAX_SAFE_INTEGER)) if ('sums' in line) return line;
    throw new Error(`The server over ${data} ended while its ledger was read.`);
  };
  return {
    entries: async function* (since) {
      for await (const line of lines(since)) if (!('sums' in line)) yield line;
    },
    sums: async () => (await end()).sums,
    liabilities: async () => (await end()).liabilities,
    close: async () => undefined,
  };
}
