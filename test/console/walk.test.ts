import { join } from 'node:path';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, shoot, violations, visit, wrongPlurals } from './browser.ts';
import { film } from './files.ts';
import { walk } from './walk.ts';

const MINUTE_MS = 60_000;
const lacking = missing() ?? false;
t.setTimeout(8 * PATIENCE_MS);

const SCREENS = [
  { name: 'wide, light', colorScheme: 'light', viewport: { width: 1440, height: 900 }, skip: lacking },
  {
    name: 'narrow, dark',
    colorScheme: 'dark',
    viewport: { width: 390, height: 844 },
    skip: lacking || onlyDeep,
  },
] as const;

/** How many places of hits are left open below a page that is higher than they are. */
const PARTLY_EMPTY = `[...document.querySelectorAll('.face .framed')].filter((page) => {
  const [place, picture] = [page.closest('.face'), page].map((one) => one.getBoundingClientRect());
  return picture.height > place.height && picture.bottom < place.bottom - 1;
}).length`;

for (const { name, skip, ...screen } of SCREENS) {
  t.test(`every state of the console is reached, and none has a fault: ${name}`, { skip }, async (t) => {
    const shift = { milliseconds: 0 };
    const server = await startTestServer(t, {}, { monotonic: () => performance.now() + shift.milliseconds });
    const { page, requested, faults } = await visit(await openBrowser(t), server.url, screen);
    await walk(page, {
      film: await film(join(server.dataFolder, '..', 'scenes.mkv')),
      minutesPass: (minutes) => {
        shift.milliseconds += minutes * MINUTE_MS;
      },
      stop: async (state) => {
        t.same(await violations(page), [], state);
        t.same(await wrongPlurals(page), [], state);
        t.equal(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          true,
          `${state}: nothing is wider than the screen`,
        );
        t.equal(await page.evaluate(PARTLY_EMPTY), 0, `${state}: an enlarged page fills its place`);
        await shoot(page, `walk-${screen.viewport.width}-${state}`);
      },
    });
    t.same(faults, []);
    t.same(
      requested.filter((address) => /bees|lighthose/.test(address)),
      [],
      'what is searched for stands in no address that is sent',
    );
  });
}
