import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';

/** From an empty page to a receipt, in a real browser against a real server. */

const samples = resolve(import.meta.dirname, '../../samples');
const sample = (name: string) => join(samples, name);
const lacking = missing();
if (lacking) {
  t.test('the console in a browser', { skip: lacking }, async () => undefined);
} else {
  t.setTimeout(4 * PATIENCE_MS);
  const server = await startTestServer(t);
  const browser = await openBrowser(t);

  t.test(
    'by mouse: pay, add files, search by words and by pictures, extend, destroy, a checked receipt',
    async (t) => {
      const { page, requested, faults } = await visit(browser, server.url);
      await seen(page.getByRole('heading', { name: 'Open a workspace' }));
      t.ok(await page.getByRole('button', { name: 'Pay and open' }).isDisabled(), 'no wallet, no payment');
      await page.getByRole('button', { name: 'Use a play wallet' }).click();
      await page.getByText('1 h', { exact: true }).click();
      await seen(page.getByText('0.04', { exact: true }));
      t.same(await violations(page), []);
      await shoot(page, '1-start');
      await page.getByRole('button', { name: 'Pay and open' }).click();

      await seen(page.getByRole('heading', { name: 'Files' }));
      const files = ['almanac.pdf', 'chelsea.png', 'coffee.png', 'tea.txt'];
      await page.getByLabel('Files to add').setInputFiles(files.map(sample));
      await page
        .locator('.file[data-state="searchable"]')
        .nth(files.length - 1)
        .waitFor();
      await page.getByLabel('Files to add').setInputFiles({
        name: 'odd.bin',
        mimeType: '',
        buffer: Buffer.from('\x7fELF\x02\x01\x01'.padEnd(200, '\0'), 'latin1'),
      });
      await seen(page.locator('.file[data-bad="true"] .why'));

      await page.getByRole('searchbox').fill('waggle dance');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await seen(page.getByText(/page \d of 5/));
      await seen(page.locator('.hit .thumbnail[data-state="shown"]'));
      t.match(
        await page.locator('.timing').textContent(),
        /Payment\s+included[\s\S]*Encode[\s\S]*Scan[\s\S]*Fuse/,
      );
      t.match(await page.locator('.hit mark').first().textContent(), /waggle|dance/i);
      t.same(await violations(page), []);
      await shoot(page, '2-words');

      await page.locator('.hit .face').first().click();
      await seen(page.locator('dialog[open] .large img'));
      t.same(await violations(page), []);
      await shoot(page, '3-hit');
      await page.getByRole('button', { name: 'Close' }).click();

      await page.getByLabel('Picture to search with').setInputFiles(sample('chelsea.png'));
      await seen(page.getByAltText('Searching with chelsea.png'));
      await seen(page.locator('.hit').first().getByRole('heading', { name: 'chelsea.png' }));
      await shoot(page, '4-picture');

      await dropPicture(page, '.search', sample('coffee.png'));
      await seen(page.getByAltText('Searching with dropped.png'));
      await seen(page.locator('.hit').first().getByRole('heading', { name: 'coffee.png' }));
      await page.getByRole('button', { name: 'More like this: coffee.png' }).click();
      await seen(page.getByAltText('Searching with coffee.png'));
      // The same hit as before: the next search would cut this one off, and it would not count.
      await page.locator('button[aria-label="Search"][aria-busy="false"]').waitFor();
      await pastePicture(page, sample('chelsea.png'));
      await seen(page.locator('.hit').first().getByRole('heading', { name: 'chelsea.png' }));

      await page.getByRole('button', { name: /^Pay .* USD$/ }).click();
      await seen(page.getByText('0.0475 USD'));
      await page.getByText(/^Requests/).click();
      await seen(page.getByText('402').first());
      t.same(await violations(page), []);
      await shoot(page, '5-requests');

      await page.getByRole('button', { name: 'Destroy and get the receipt' }).click();
      await page.getByRole('button', { name: 'Destroy', exact: true }).click();
      await seen(page.getByText(/The signature is good/));
      t.match(await page.locator('.receipt').textContent(), /4 items[\s\S]*5 searches[\s\S]*0\.0475 USD/);
      t.same(await violations(page), []);
      await shoot(page, '6-receipt');
      t.same(faults, []);
      t.same(foreign(requested, server.url), [], 'no request leaves the origin');
    },
  );

  t.test('by keyboard alone, in the dark, on a narrow screen', async (t) => {
    const { page, requested, faults } = await visit(browser, server.url, {
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      viewport: { width: 390, height: 844 },
    });
    await seen(page.getByRole('button', { name: 'Use a play wallet' }));
    await goTo(page, 'Use a play wallet');
    await page.keyboard.press('Enter');
    await page.getByText('Play wallet').first().waitFor({ state: 'attached' });
    await goTo(page, 'Pay and open');
    await shoot(page, '7-start-dark-narrow');
    t.same(await violations(page), []);
    await page.keyboard.press('Enter');

    await seen(page.getByRole('heading', { name: 'Files' }));
    // It takes the focus once, when it is there: not between a Tab and an Enter.
    await page.locator('input[name=query]:focus').waitFor();
    await goTo(page, 'Drop files here, or choose');
    const chooser = page.waitForEvent('filechooser');
    // The answer to this comes once the browser hands choosers over, which it was told before.
    t.match(await focused(page), /^Drop files here, or choose/, 'the focus stays where it was moved to');
    await page.keyboard.press('Enter');
    await (await chooser).setFiles([sample('almanac.pdf'), sample('tea.txt')]);
    await page.locator('.file[data-state="searchable"]').nth(1).waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('how do bees dance');
    await page.keyboard.press('Enter');
    await seen(page.getByRole('heading', { name: /hits? in/ }));
    await page.locator('.hit').first().waitFor();
    t.same(await violations(page), []);
    await shoot(page, '8-hits-dark-narrow');
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
      true,
      'nothing is wider than the screen',
    );
    await goTo(page, 'Open ');
    await page.keyboard.press('Enter');
    await seen(page.locator('dialog[open]'));
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });

    await goTo(page, 'Destroy and get the receipt');
    await page.keyboard.press('Enter');
    await goTo(page, 'Destroy');
    await page.keyboard.press('Enter');
    await seen(page.getByText(/The signature is good/));
    t.equal(await focused(page), 'Disposal receipt', 'the focus goes along');
    await shoot(page, '9-receipt-dark-narrow');
    t.same(await violations(page), []);
    t.same(faults, []);
    t.same(foreign(requested, server.url), []);
  });
}

/** Addresses that lead elsewhere; blobs are the page's own. */
function foreign(requested: readonly string[], url: string): string[] {
  return requested.filter((address) => !address.startsWith(`${url}/`) && !address.startsWith('blob:'));
}

const TABS_MAX = 200;

/** Presses Tab until the focus is on what is called so, or begins so when the name ends with a space. */
async function goTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at === name || (name.endsWith(' ') && at.startsWith(name))) return;
  }
  throw new Error(`Tab never leads to ${name}`);
}

function focused(page: Page): Promise<string> {
  const name = "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent)";
  return page.evaluate(`${name}.replace(/\\s+/g, ' ').trimStart()`) as Promise<string>;
}

/** A file from outside the browser, dropped. */
async function dropPicture(page: Page, selector: string, path: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(transferOf('dropped.png', await readFile(path)));
  await page.dispatchEvent(selector, 'drop', { dataTransfer });
}

async function pastePicture(page: Page, path: string): Promise<void> {
  const clipboardData = transferOf('pasted.png', await readFile(path));
  await page.evaluate(
    `document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: ${clipboardData}, bubbles: true }))`,
  );
}

/** In the page's words: what a drop or a paste carries. */
function transferOf(name: string, bytes: Buffer): string {
  return `(() => {
    const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], '${name}', { type: 'image/png' }));
    return transfer;
  })()`;
}
