import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RECORDING, SENTENCE, withoutRecording } from '../engine/encode/rig/recording.ts';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { addFiles, ask, rent, searchable } from './page.ts';

const skip = withoutRecording || (missing() ?? false);
t.setTimeout(4 * PATIENCE_MS);

t.test(
  'a sentence of a recording is found, played from its second, and shown as it is said',
  { skip },
  async (t) => {
    const folder = t.testdir({});
    const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
    const { page, faults } = await visit(await openBrowser(t), server.url);
    await rent(page);
    const talk = join(folder, 'talk.flac');
    copyFileSync(RECORDING, talk);
    await addFiles(page, talk);
    await searchable(page, 1);
    await ask(page, SENTENCE.words);
    const hit = page.locator('.hit').first();
    await seen(hit);
    await hit.locator('.title').click();
    await page.locator('dialog[open] audio').waitFor();
    await page.evaluate(`new Promise((done) => {
    const sound = document.querySelector('dialog audio');
    if (sound.readyState >= 2) done();
    else sound.addEventListener('loadeddata', () => done(), { once: true });
  })`);
    const at = (await page.evaluate("document.querySelector('dialog audio').currentTime")) as number;
    t.ok(at >= SENTENCE.from && at <= SENTENCE.to, `it is at ${at} s`);
    const said = page.locator('dialog[open] .said');
    await said.filter({ hasText: /ask what you can do/i }).waitFor();
    t.match(await page.locator('dialog[open]').textContent(), /heard, \d\d % sure/);
    t.same(await violations(page), []);
    await shoot(page, '14-recording');
    t.same(faults, []);
  },
);
