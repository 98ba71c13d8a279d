import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { CutDisk } from '../../rig/cut-disk.ts';

/** How often the filler takes what became free. */
const LOOK_EVERY_MS = 100;

export interface Disk {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Mounts a file system of so many MiB under a folder, as root. */
export const DISKS: Readonly<Record<string, (folder: string, mebibytes: number) => Promise<Disk>>> = {
  ext4: (folder, mebibytes) => CutDisk.mount(folder, mebibytes),
  tmpfs: async (under, mebibytes) => {
    const folder = join(under, 'memory');
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder]);
    return { folder, remove: async () => void execFileSync('umount', [folder]) };
  },
};

/** Takes every free byte, and those that become free; `end` gives them back. */
export function fill(folder: string): { end(): void } {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  let chunk = Buffer.alloc(2 ** 20, 1);
  const more = () => {
    for (;;)
      try {
        writeSync(file, chunk);
      } catch {
        if (chunk.length === 1) break;
        chunk = chunk.subarray(0, chunk.length / 2);
      }
    chunk = Buffer.alloc(4096, 1);
  };
  more();
  const again = setInterval(more, LOOK_EVERY_MS);
  return {
    end: () => {
      clearInterval(again);
      closeSync(file);
      rmSync(path);
    },
  };
}
