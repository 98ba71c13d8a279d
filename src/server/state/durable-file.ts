import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '@farthing/engine/shard/disposal';

/** Replaces a file at once: a reader, and a start after a power cut, find the former content or the new one, whole. On the disk once it resolves. */
export async function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const draft = `${path}.draft`;
  const file = await open(draft, 'w', mode);
  try {
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
}
