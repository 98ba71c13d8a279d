import { copyFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { RECORDING, SENTENCE } from '../engine/encode/rig/recording.ts';
import { onlyDeep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { addFiles, ask, rent, searchable } from './page.ts';

const FILM = resolve(import.meta.dirname, '../../../shared/data/samples/video/bottle-detection.mp4');
const lacking =
  missing() ?? ([FILM, RECORDING].every(existsSync) ? false : 'the shared samples are not here');
t.setTimeout(4 * PATIENCE_MS);

/** A file under a name by which it would not be found, and where it is played from: what its place says, or its sentence. */
const PLAYED = [
  { kind: 'video', file: FILM, name: 'IMG_0042.mp4', query: 'bottles of water' },
  { kind: 'audio', file: RECORDING, name: 'talk.flac', query: SENTENCE.words },
] as const;

for (const { kind, file, name, query } of PLAYED)
  t.test(
    `a moment is found, shown, and played from there: ${kind}`,
    { skip: onlyDeep || lacking },
    async (t) => {
      const folder = t.testdir({});
      const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
      const { page, faults } = await visit(await openBrowser(t), server.url);
      await rent(page);
      copyFileSync(file, join(folder, name));
      await addFiles(page, join(folder, name));
      await searchable(page, 1);
      await ask(page, query);
      const hit =
        kind === 'video' ? page.locator('.hit[data-kind="film"]').last() : page.locator('.hit').first();
      await seen(hit);
      // Pictures are loaded near the screen alone.
      await hit.scrollIntoViewIfNeeded();
      const place = await hit.locator('.place').textContent();
      await hit.locator('.title').click();
      await page.locator(`dialog[open] ${kind}`).waitFor();
      // Not `waitForFunction`: what it repeats in the page is evaluated there, which the page's policy forbids.
      await page.evaluate(`new Promise((done) => {
      const played = document.querySelector('dialog ${kind}');
      if (played.readyState >= 2) done();
      else played.addEventListener('loadeddata', () => done(), { once: true });
    })`);
      const at = (await page.evaluate(`document.querySelector('dialog ${kind}').currentTime`)) as number;
      if (kind === 'video') {
        await hit.locator('.thumbnail[data-state="shown"]').first().waitFor();
        const [, minutes, seconds] = /at (\d+):(\d\d)/.exec(place!)!;
        t.ok(at >= Number(minutes) * 60 + Number(seconds), `it is at ${at} s`);
      } else {
        t.ok(at >= SENTENCE.from && at <= SENTENCE.to, `it is at ${at} s`);
        await page
          .locator('dialog[open] .said')
          .filter({ hasText: /ask what you can do/i })
          .waitFor();
      }
      t.same(await violations(page), []);
      await shoot(page, `played-${kind}`);
      t.same(faults, []);
    },
  );
