import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import {
  missing,
  openBrowser,
  PATIENCE_MS,
  seen,
  shoot,
  violations,
  visit,
  wrongPlurals,
} from './browser.ts';
import { sample } from './files.ts';
import { focusOf, tour } from './keyboard.ts';
import { answered, focused, goTo, searchable } from './page.ts';

/** From the page's load to the receipt without a mouse: the focus is always seen, never lost and never trapped. */

t.setTimeout(8 * PATIENCE_MS);

t.test('by keyboard alone, on a narrow and dark screen', { skip: missing() ?? false }, async (t) => {
  const server = await startTestServer(t);
  const browser = await openBrowser(t);
  const viewport = { width: 390, height: 860 };
  const screen = { colorScheme: 'dark', reducedMotion: 'reduce', viewport } as const;
  const { page, faults } = await visit(browser, server.url, screen);
  const press = (key: string) => page.keyboard.press(key);
  const stop = async (state: string): Promise<void> => {
    t.ok(await focusOf(page), `${state}: the focus is not lost`);
    t.same(await tour(page), [], `${state}: Tab leads everywhere, and the focus is seen`);
    t.same(await violations(page), [], state);
    t.same(await wrongPlurals(page), [], state);
    const fits = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
    t.ok(fits, `${state}: nothing is wider than the screen`);
    await shoot(page, `keyboard-${state}`);
  };
  const unfold = async (title: string): Promise<void> => {
    if ((await page.locator('.fold:not([open]) > summary', { hasText: title }).count()) === 0) return;
    await goTo(page, `${title} `);
    await press('Enter');
  };

  await seen(page.locator('.order .chosen'));
  await press('Tab');
  await stop('start');
  await goTo(page, '15 min');
  await press('ArrowRight');
  t.equal(await focused(page), '1 h', 'arrows choose the time');
  await goTo(page, 'Pay and open');
  await press('Enter');
  await page.locator('input[name=query]:focus').waitFor();
  await stop('rented');

  await unfold('Files');
  await goTo(page, 'Choose files, or drop them anywhere');
  const chooser = page.waitForEvent('filechooser');
  t.match(await focused(page), /^Choose files/);
  await press('Enter');
  await (await chooser).setFiles([sample('almanac.pdf'), sample('tea.txt'), sample('chelsea.png')]);
  await searchable(page, 3);
  await stop('files');
  await goTo(page, 'Remove tea.txt');
  await press('Enter');
  await seen(page.getByText('Remove for good?'));
  await stop('file-to-remove');
  await press('Escape');
  await page.getByText('Remove for good?').waitFor({ state: 'detached' });
  t.equal(await focused(page), 'Remove tea.txt', 'the focus goes back to what asked');

  await press('/');
  await page.keyboard.type('how do bees dance');
  await press('Enter');
  await answered(page, 'how do bees dance');
  await page.locator('.hit').first().waitFor();
  await stop('hits');
  await goTo(page, 'A Small Almanac');
  const opener = await focusOf(page);
  await press('Enter');
  await seen(page.locator('dialog[open] .large img'));
  await stop('hit');
  await goTo(page, 'Next page');
  for (const turned of [2, 3, 4, 5]) {
    await press('Enter');
    await seen(page.getByAltText(`almanac.pdf, page ${turned}`));
  }
  t.equal(await focused(page), 'Next page', 'a button that leads no further keeps the focus');
  await press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  t.equal((await focusOf(page))?.id, opener?.id, 'the focus goes back to the hit');

  await unfold('Workspace');
  await goTo(page, 'Pay ');
  const paid = page.waitForResponse((answer) => answer.url().endsWith('/extend') && answer.ok());
  await press('Enter');
  await paid;
  await seen(page.getByText('0.0475 USD'));
  await stop('extended');
  await goTo(page, 'Destroy and get the receipt');
  await press('Enter');
  await seen(page.getByRole('button', { name: 'Destroy', exact: true }));
  await stop('destroy');
  await press('Escape');
  await page.getByRole('button', { name: 'Destroy', exact: true }).waitFor({ state: 'detached' });
  t.equal(await focused(page), 'Destroy and get the receipt');
  await press('Enter');
  await goTo(page, 'Destroy');
  await press('Enter');
  await seen(page.getByText(/The signature is good/));
  t.equal(await focused(page), 'Disposal receipt');
  await stop('receipt');
  t.same(faults, []);
});
