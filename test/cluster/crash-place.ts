import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bookFolders } from '../../src/server/state/book-folders.ts';
import { bootNoteOf } from '../../src/server/state/log-position.ts';
import { CutDisk } from '../rig/cut-disk.ts';
import { TESTED } from '../rig/environment.ts';
import type { Random } from '../rig/random.ts';
import { makeBooksOfLogs } from './books-of-log.ts';
import { EtcdFaults } from './etcd-faults.ts';
import { EtcdServers } from './etcd-servers.ts';
import { GarageServer } from './objects/garage-server.ts';

const DISK_MEBIBYTES = 4096;
const OBJECTS = 'objects';
/** The least that there is. */
const LEASE_SECONDS = 3;

export interface PlaceOptions {
  /**
   * The books are in etcd, and content in objects of a folder or of Garage: after each kill the books are judged as etcd's logs have them,
   * and the server's whole data folder is deleted.
   */
  readonly beyondDisk?: 'folder' | 'garage' | undefined;
  /**
   * All of it lies on a disk that loses its power with each kill: the server, etcd and the objects then have what they had synced. With etcd
   * the data folder is deleted after half of the kills only.
   */
  readonly losesPower?: boolean | undefined;
  /**
   * Two nodes of one cluster, which take turns: after each kill the other one goes on when the lease is over, on a disk that has what it had
   * when it was killed itself. Needs `beyondDisk`.
   */
  readonly twoNodes?: boolean | undefined;
  /** Slots that several nodes share at the same time; they are started by whoever asks for this. Needs `beyondDisk`. */
  readonly sharedSlots?: number | undefined;
}

interface Parts {
  readonly folder: string;
  readonly random: Random;
  readonly disk: CutDisk | undefined;
  readonly etcd: EtcdServers | undefined;
  readonly faults: EtcdFaults | undefined;
  readonly garage: GarageServer | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly twoNodes: boolean;
  readonly sharedSlots: number | undefined;
}

/** Surroundings of a killed server: its data folder, etcd and objects, and their faults. */
export class CrashPlace {
  /** Folder of everything; removed by `close`. */
  readonly folder: string;
  readonly dataFolder: string;
  /** Settings that point a server at all of it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly #parts: Parts;
  #starts = 0;

  static async open(
    { beyondDisk, losesPower, twoNodes = false, sharedSlots }: PlaceOptions,
    random: Random,
  ): Promise<CrashPlace> {
    const folder = mkdtempSync(join(tmpdir(), 'farthing-crash-'));
    const disk = losesPower ? await CutDisk.mount(folder, DISK_MEBIBYTES) : undefined;
    const on = disk?.folder ?? folder;
    const etcd = beyondDisk && (await EtcdServers.start(join(on, 'etcd')));
    // A power cut takes all members at once; what befalls single ones is another run.
    const faults = etcd && !disk ? await EtcdFaults.start(etcd, random.fork()) : undefined;
    const garage = beyondDisk === 'garage' ? await GarageServer.start(join(on, 'garage')) : undefined;
    const members = faults?.members ?? etcd?.members;
    const settings = members
      ? {
          CLUSTER: `etcd://${members.join()}`,
          ...(await objectsIn(on, garage)),
          ...(sharedSlots !== undefined && {
            SLOTS: String(sharedSlots),
            CLUSTER_LEASE_SECONDS: String(LEASE_SECONDS),
          }),
        }
      : {};
    return new CrashPlace(join(on, 'data'), {
      folder,
      random,
      disk,
      etcd,
      faults,
      garage,
      settings,
      twoNodes,
      sharedSlots,
    });
  }

  private constructor(dataFolder: string, parts: Parts) {
    this.folder = parts.folder;
    this.dataFolder = dataFolder;
    this.settings = parts.settings;
    this.#parts = parts;
  }

  /** Settings of the next server beside `settings`. */
  nextNode(): Readonly<Record<string, string>> {
    if (!this.#parts.twoNodes) return { DATA_DIR: this.dataFolder };
    this.#starts += 1;
    const id = `n${1 + (this.#starts % 2)}`;
    return {
      DATA_DIR: `${this.dataFolder}-${id}`,
      NODE_ID: id,
      CLUSTER_LEASE_SECONDS: String(LEASE_SECONDS),
    };
  }

  /** Whether a server may end by itself, because it lost its lease. */
  get endsServers(): boolean {
    return this.#parts.twoNodes;
  }

  /** Names of all objects of a folder. */
  objects(): string[] {
    const { disk, folder } = this.#parts;
    const found = readdirSync(join(disk?.folder ?? folder, OBJECTS), {
      recursive: true,
      withFileTypes: true,
    });
    return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  }

  /** How often each fault of etcd came. */
  get etcdFaults(): Readonly<Record<string, number>> {
    return this.#parts.faults?.counts ?? {};
  }

  /** Ends the server, and with it the power where that is lost. */
  async end(server: { pause(): void; kill(whole: boolean): Promise<void> }, whole: boolean): Promise<void> {
    const { disk, etcd } = this.#parts;
    if (!disk) return server.kill(whole);
    // A paused process reports nothing more.
    server.pause();
    etcd?.pause();
    disk.cut();
    await Promise.all([server.kill(true), etcd?.stop()]);
    await disk.restore();
    await etcd?.restart();
    await this.#noteFormerBoot();
  }

  /** A data folder with the books as they would be found by whoever has nothing of this machine's disk. */
  async books(): Promise<string> {
    const { etcd, folder, twoNodes, sharedSlots } = this.#parts;
    if (!etcd) return this.dataFolder;
    const judged = join(folder, 'judged');
    const slots = sharedSlots ?? Number(TESTED.FARTHING_SLOTS ?? 1);
    await makeBooksOfLogs(etcd.addresses, {
      cluster: 'farthing',
      slots,
      folder: judged,
      leaseSeconds: twoNodes || sharedSlots !== undefined ? LEASE_SECONDS : undefined,
    });
    return judged;
  }

  /** With etcd and objects, all that the dead server had on its disk is deleted. */
  loseData(): void {
    const { etcd, disk, random, twoNodes } = this.#parts;
    if (twoNodes) return;
    if (etcd && !(disk && random.hits(0.5)))
      rmSync(this.dataFolder, { recursive: true, force: true, maxRetries: 20 });
  }

  /** From now on nothing befalls etcd. */
  async calm(): Promise<void> {
    await this.#parts.faults?.calm();
  }

  async close({ keep }: { keep: boolean }): Promise<void> {
    const { faults, etcd, garage, disk, folder } = this.#parts;
    await faults?.close();
    await Promise.all([etcd?.stop(), garage?.stop()]);
    if (keep) return;
    await disk?.remove();
    rmSync(folder, { recursive: true, force: true });
  }

  /** The kernel draws a number for each boot, by which a server knows that a copy of a log may be damaged. */
  async #noteFormerBoot(): Promise<void> {
    if (!existsSync(this.dataFolder)) return;
    for (const folder of await bookFolders(this.dataFolder)) {
      const note = bootNoteOf(join(folder, 'state'));
      if (existsSync(note)) writeFileSync(note, 'a former boot');
    }
  }
}

/** Settings of a server whose content lies in objects. */
async function objectsIn(
  folder: string,
  garage: GarageServer | undefined,
): Promise<Readonly<Record<string, string>>> {
  const key = { FARTHING_CLUSTER_KEY: randomBytes(32).toString('hex') };
  if (garage) {
    await garage.bucket('crash');
    return { ...key, ...garage.settings('crash') };
  }
  mkdirSync(join(folder, OBJECTS));
  return { ...key, FARTHING_OBJECTS: `file://${join(folder, OBJECTS)}` };
}
