import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, visit } from './browser.ts';
import { film } from './files.ts';
import { walk } from './walk.ts';

/**
 * Pictures of every state of the console, at two sizes in light and dark, as WebP below 100 kB:
 * `node test/console/screenshots.ts FOLDER [wide|narrow] [light|dark]`. Takes some minutes; docs/pictures has a few of them.
 */

// The test server brings the test runner along, which else stops this program after half a minute.
t.setTimeout(0);

const BYTES_MAX = 100_000;
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const;
const SCHEMES = ['light', 'dark'] as const;
const [folder, ...wanted] = process.argv.slice(2);
const lacking = missing() ?? (folder === undefined ? 'Name the folder that they go into.' : undefined);
if (lacking !== undefined || folder === undefined) {
  console.error(lacking);
  process.exit(2);
}
await mkdir(folder, { recursive: true });
const isWanted = (name: string, others: readonly string[]) =>
  wanted.includes(name) || !others.some((other) => wanted.includes(other));

const ends: (() => unknown)[] = [];
const scratch = await mkdtemp(join(tmpdir(), 'farthing-screenshots-'));
const teardown = (end: () => unknown) => void ends.unshift(end);
try {
  const scenes = await film(join(scratch, 'scenes.mkv'));
  const browser = await openBrowser({ teardown } as Parameters<typeof openBrowser>[0]);
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of SCHEMES) {
      if (!isWanted(size, Object.keys(SIZES)) || !isWanted(colorScheme, SCHEMES)) continue;
      await take(`${size}-${colorScheme}`, { viewport, colorScheme });
    }
  }

  async function take(screen: string, options: NonNullable<Parameters<typeof visit>[2]>): Promise<void> {
    const shift = { milliseconds: 0 };
    const server = await startTestServer(
      { teardown, testdir: () => join(scratch, screen) } as Parameters<typeof startTestServer>[0],
      {},
      { monotonic: () => performance.now() + shift.milliseconds },
    );
    const { page } = await visit(browser, server.url, options);
    const keep = async (shown: typeof page, state: string) => {
      await keepSmall(await shown.screenshot(), resolve(folder!, `${screen}-${state}.webp`));
    };
    await walk(page, {
      film: scenes,
      minutesPass: (minutes) => {
        shift.milliseconds += minutes * 60_000;
      },
      stop: (state) => keep(page, state),
    });
    await server.stop();
  }
} finally {
  for (const end of ends) await end();
  await rm(scratch, { recursive: true, force: true });
}

/** The best quality that is small enough. */
async function keepSmall(png: Buffer, path: string, bytesMax = BYTES_MAX): Promise<void> {
  for (const quality of [92, 85, 75, 60, 40]) {
    const webp = await sharp(png).webp({ quality, effort: 6 }).toBuffer();
    if (webp.length > bytesMax) continue;
    await writeFile(path, webp);
    return;
  }
  throw new Error(`${path} is too large`);
}
