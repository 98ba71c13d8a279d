import { join } from 'node:path';
import { prepaidMoneyOf } from '@farthing/payment/prepaid/balances';
import { systemClock } from '@farthing/protocol/clock';
import { formatUsd } from '@farthing/protocol/money';
import { Credits } from '../../purchases/credits.ts';
import { bookFolders } from '../../state/book-folders.ts';
import { type FolderMoney, folderMoney, keepMoney, moneyOf, shown } from '../../state/folder-money.ts';
import { openStore, type Store } from '../../state/store.ts';
import { CopiedRegistry } from '../../workspace/copied-registry.ts';
import { whileStopped } from '../backup/stopped-backup.ts';
import { type CommandIo, dataFolder, EXIT, settingsOf } from '../io.ts';

/**
 * Gives a stopped server's data folder the money of the settings. What another kind of money bought ends, and is named: workspaces and
 * wallets' indexes at the next start, credits and prepaid play money at once. Prepaid money that was real is still owed.
 */
export async function changeMoney(io: CommandIo): Promise<number> {
  const [data, settings] = [dataFolder(io), settingsOf(io)];
  if (settings.CLUSTER !== '')
    throw new Error('The books are in etcd: make a new cluster for another money (docs/cluster.md).');
  const asked = moneyOf(settings);
  const done = await whileStopped(data, async () => {
    const kept = await folderMoney(data);
    if (kept && kept.money !== asked.money) await endBought(data, kept, io);
    else io.write('Nothing ends: what was bought was bought with the same money.\n');
    await keepMoney(data, asked);
    io.write(`${data} is in ${shown(asked)} from now on.\n`);
    return true;
  });
  if (!done) throw new Error(`A server runs over ${data}: stop it first.`);
  return EXIT.done;
}

async function endBought(data: string, kept: FolderMoney, io: CommandIo): Promise<void> {
  const sums = { workspaces: 0, indexes: 0, credits: 0, wallets: 0, prepaid: 0n, open: 0 };
  const stores = await openAll(data);
  try {
    for (const store of stores) sums.open += Array.from(store.table('payments_open').range()).length;
    if (sums.open > 0 && kept.money !== 'play')
      throw new Error(
        `${sums.open} payments are not settled yet: start the server with the former settings (${shown(kept)}) until they are, then stop it.`,
      );
    for (const store of stores) {
      const ended = await new CopiedRegistry(store, systemClock).endAll();
      sums.workspaces += ended.workspaces;
      sums.indexes += ended.indexes;
      sums.credits += await new Credits({ store, clock: systemClock }).endAll();
      const { wallets, left } = await prepaidMoneyOf(store, kept.money, kept.money === 'play');
      sums.wallets += wallets;
      sums.prepaid += left;
    }
  } finally {
    for (const store of stores) await store.close();
  }
  const prepaid = `${formatUsd(sums.prepaid)} USD prepaid by ${sums.wallets} wallets`;
  io.write(
    `${shown(kept)} bought:
  ${sums.workspaces} workspaces, which end at the next start; their receipts are given for a day
  ${sums.indexes} indexes of wallets, which end at the next start
  ${sums.credits} credits for uploads, which have ended
  ${prepaid}, ${kept.money === 'play' ? 'which have ended' : `still owed: they are not spent in another money, and "admin prepaid list" with the former settings shows them`}
`,
  );
}

async function openAll(data: string): Promise<Store[]> {
  return (await bookFolders(data)).map((folder) => openStore(join(folder, 'state')));
}
