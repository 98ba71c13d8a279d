import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { truncate, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const PROGRAMS = ['mkfs.ext4', 'mount', 'umount', 'perl'];
const UNMOUNTS_MAX = 200;
/** FS_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (linux/fs.h, fs/ext4/ext4.h): from now on nothing reaches the device, the journal neither. */
const SHUT_DOWN =
  'my $flags = pack("L", 2); open(my $f, "<", $ARGV[0]) or die $!; ioctl($f, 0x8004587d, $flags) or die $!';

/** Why no disk can be cut here; undefined where it can. */
export const withoutCutDisk = reason();

function reason(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'needs root on Linux, to mount a file system that can be cut off';
  const absent = PROGRAMS.filter((program) => !succeeds('sh', ['-c', `command -v ${program}`]));
  if (absent.length > 0) return `needs ${absent.join(', ')}, to mount a file system that can be cut off`;
  return succeeds('test', ['-e', '/dev/loop-control']) ? undefined : 'needs loop devices';
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
    execFileSync('mkfs.ext4', ['-q', '-F', disk.#image]);
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
    execFileSync('perl', ['-e', SHUT_DOWN, this.folder]);
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
    execFileSync('mount', ['-o', 'loop', this.#image, this.folder]);
  }

  /** Programs that were killed hold it until the kernel has ended them. */
  async #unmount(): Promise<void> {
    for (let tries = 0; !succeeds('umount', [this.folder]); tries++) {
      if (tries === UNMOUNTS_MAX) throw new Error(`${this.folder} stays in use`);
      await pause(50);
    }
  }
}

function succeeds(program: string, words: readonly string[]): boolean {
  try {
    execFileSync(program, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
