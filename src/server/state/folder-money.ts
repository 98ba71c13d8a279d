import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import { writeDurably } from './durable-file.ts';

/** The money that a data folder's books are in. */
export interface FolderMoney {
  /** `play`, or the network on which its payments are made. */
  readonly money: string;
  /** The wallet that is paid, in lower case; empty for play money, which nobody receives. */
  readonly payTo: string;
}

const FILE = 'money';

/** The money of the settings. */
export function moneyOf({ FACILITATOR, NETWORK, PAY_TO }: Settings): FolderMoney {
  if (FACILITATOR.length === 0) return { money: 'play', payTo: '' };
  return { money: NETWORK, payTo: PAY_TO.toLowerCase() };
}

/** The money that a folder remembers; undefined for one that has had none. */
export async function folderMoney(data: string): Promise<FolderMoney | undefined> {
  const text = await readFile(join(data, FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const [money = '', payTo = ''] = text.trim().split(' ');
  return money === '' ? undefined : { money, payTo };
}

export async function keepMoney(data: string, { money, payTo }: FolderMoney): Promise<void> {
  await writeDurably(join(data, FILE), `${money} ${payTo}`.trim().concat('\n'));
}

/** Why a folder cannot be used with the money of the settings; undefined where it can. */
export function moneyFault(kept: FolderMoney | undefined, asked: FolderMoney): string | undefined {
  if (!kept || (kept.money === asked.money && kept.payTo === asked.payTo)) return undefined;
  const what =
    kept.money === asked.money
      ? 'Another wallet is paid: nothing that was bought ends'
      : `What ${shown(kept)} bought would be good for ${shown(asked)}`;
  return `its books are in ${shown(kept)}, and these settings are in ${shown(asked)}. ${what}. Name a new folder, or run "npx farthing admin money change" with these settings: it says what it ends`;
}

/** For people. */
export function shown({ money, payTo }: FolderMoney): string {
  return money === 'play' ? 'play money' : `${money} paid to ${payTo}`;
}

/** Remembers the money of a new folder. @throws ConfigError for a folder in another */
export async function claimMoney(data: string, settings: Settings): Promise<void> {
  const [kept, asked] = [await folderMoney(data), moneyOf(settings)];
  const fault = moneyFault(kept, asked);
  if (fault !== undefined) throw new ConfigError(`FARTHING_DATA_DIR=${data}: ${fault}`);
  if (!kept) await keepMoney(data, asked);
}
