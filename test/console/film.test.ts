import { copyFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { addFiles, ask, rent, searchable } from './page.ts';

const FILM = resolve(import.meta.dirname, '../../../shared/data/samples/video/bottle-detection.mp4');
const lacking = missing() ?? (existsSync(FILM) ? undefined : 'the shared sample files are not here');
const skip = onlyDeep || (lacking ?? false);
t.setTimeout(4 * PATIENCE_MS);

t.test('a moment of a film is found, shown, and played from there', { skip }, async (t) => {
  const folder = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
  const { page, faults } = await visit(await openBrowser(t), server.url);
  await rent(page);
  // By its own name it would be found as a whole.
  const film = join(folder, 'IMG_0042.mp4');
  copyFileSync(FILM, film);
  await addFiles(page, film);
  await searchable(page, 1);
  await ask(page, 'bottles of water');
  const hit = page.locator('.hit[data-kind="film"]').last();
  await seen(hit);
  // Pictures are loaded near the screen alone.
  await hit.scrollIntoViewIfNeeded();
  await hit.locator('.thumbnail[data-state="shown"]').first().waitFor();
  const place = await hit.locator('.place').textContent();
  const [, minutes, seconds] = /at (\d+):(\d\d)/.exec(place!)!;
  await hit.locator('.title').click();
  await page.locator('dialog[open] video').waitFor();
  // Not `waitForFunction`: what it repeats in the page is evaluated there, which the page's policy forbids.
  await page.evaluate(`new Promise((done) => {
    const film = document.querySelector('dialog video');
    if (film.readyState >= 2) done();
    else film.addEventListener('loadeddata', () => done(), { once: true });
  })`);
  const at = (await page.evaluate("document.querySelector('dialog video').currentTime")) as number;
  t.ok(at >= Number(minutes) * 60 + Number(seconds), `it is at ${at} s`);
  t.same(await violations(page), []);
  await shoot(page, '12-film');
  t.same(faults, []);
});
