import { resolve } from 'node:path';
import { backUpStopped, restore } from '../backup/stopped-backup.ts';
import { type CommandIo, dataFolder, EXIT } from '../io.ts';
import { askServer } from '../running/operator-socket.ts';

/** Copies the data folder to a new folder: itself when no server runs over it, otherwise the server does. */
export async function backUp(folder: string, io: CommandIo): Promise<number> {
  const [data, target] = [dataFolder(io), resolve(folder)];
  if (!(await backUpStopped(data, target)))
    await askServer(data, 'POST', `/backup?folder=${encodeURIComponent(target)}`);
  io.write(`${data} is copied to ${target}.\n`);
  return EXIT.done;
}

/** Makes the data folder, which must not exist, from a backup. */
export async function restoreBackup(folder: string, io: CommandIo): Promise<number> {
  const [data, source] = [dataFolder(io), resolve(folder)];
  await restore(source, data);
  io.write(`${data} is restored from ${source}.\n`);
  return EXIT.done;
}
