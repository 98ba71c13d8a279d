import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const PROGRAMS = ['mkfs.ext4', 'mount', 'umount', 'perl'];
const UNMOUNTS_MAX = 200;
const TRIED_MEBIBYTES = 16;
/** FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (linux/fs.h, fs/ext4/ext4.h): from now on nothing reaches the device, the journal neither. */
const SHUT_DOWN =
  'my $flags = pack("L", 2); open(my $f, "<", $ARGV[0]) or die $!; ioctl($f, 0x8004587d, $flags) or die $!';

/** Why no disk can be cut here, which is tried; undefined where it can. */
export async function withoutCutDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'needs root on Linux, to mount a file system that can be cut off';
  const absent = PROGRAMS.filter((program) => !succeeds('sh', ['-c', `command -v ${program}`]));
  if (absent.length > 0) return `needs ${absent.join(', ')}, to mount a file system that can be cut off`;
  const folder = mkdtempSync(join(tmpdir(), 'farthing-cut-'));
  try {
    const disk = await CutDisk.mount(folder, TRIED_MEBIBYTES);
    try {
      disk.cut();
    } finally {
      await disk.remove();
    }
    return undefined;
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: Buffer | string };
    const [why] = String(stderr || message).split('\n');
    return `needs a loop device and an ext4 that can be mounted and cut off: ${why}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * An ext4 of its own in a file, which can lose its power: what programs wrote and did not sync is lost, at one moment for all files. Its
 * device keeps all that it was sent: the model has no cache in the device that loses or reorders writes.
 */
export class CutDisk {
  readonly folder: string;
  readonly #image: string;

  /** @param folder absolute path of a folder that is there; the file and the mount point lie in it */
  static async mount(folder: string, mebibytes: number): Promise<CutDisk> {
    const disk = new CutDisk(folder);
    await writeFile(disk.#image, '');
    await truncate(disk.#image, mebibytes * 2 ** 20);
    run('mkfs.ext4', ['-q', '-F', disk.#image]);
    mkdirSync(disk.folder);
    disk.#mount();
    return disk;
  }

  private constructor(folder: string) {
    this.folder = `${folder}/disk`;
    this.#image = `${folder}/disk.ext4`;
  }

  /** Nothing more reaches the device. Programs that use it should stand still, and be killed before `restore`. */
  cut(): void {
    run('perl', ['-e', SHUT_DOWN, this.folder]);
  }

  /** Mounts what the device has. */
  async restore(): Promise<void> {
    await this.#unmount();
    this.#mount();
  }

  async remove(): Promise<void> {
    await this.#unmount();
    rmSync(this.#image);
  }

  #mount(): void {
    run('mount', ['-o', 'loop', this.#image, this.folder]);
  }

  /** Programs that were killed hold it until the kernel has ended them. */
  async #unmount(): Promise<void> {
    for (let tries = 0; !succeeds('umount', [this.folder]); tries++) {
      if (tries === UNMOUNTS_MAX) throw new Error(`${this.folder} stays in use`);
      await pause(50);
    }
  }
}

function run(program: string, words: readonly string[]): void {
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function succeeds(program: string, words: readonly string[]): boolean {
  try {
    run(program, words);
    return true;
  } catch {
    return false;
  }
}
