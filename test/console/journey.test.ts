import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { odd, sample } from './files.ts';
import { addFiles, answered, ask, dropFile, pastePicture, rent, searchable } from './page.ts';

/** From an empty page to a receipt, in a real browser against a real server. `walk.test.ts` goes through every state, `keyboard.test.ts` goes without a mouse. */

const lacking = missing();
if (lacking) {
  t.test('the console in a browser', { skip: lacking }, async () => undefined);
} else {
  t.setTimeout(4 * PATIENCE_MS);
  const server = await startTestServer(t);
  const browser = await openBrowser(t);

  t.test('by mouse, from payment over searches and reloads to a checked receipt', async (t) => {
    const { page, requested, faults } = await visit(browser, server.url);
    await seen(page.locator('.order .chosen', { hasText: 'Play wallet' }));
    await page.getByText('1 h', { exact: true }).click();
    await seen(page.getByText('0.04', { exact: true }));
    const price = page.getByRole('group', { name: /Pay/ }).locator('.price');
    t.match(await price.textContent(), /^0\.04 USD = /, 'read as it is');
    t.same(await violations(page), []);
    await shoot(page, '1-start');
    await rent(page);

    const files = ['almanac.pdf', 'chelsea.png', 'coffee.png'];
    await addFiles(page, files.map(sample));
    await dropFile(page, 'h1', 'tea.txt', sample('tea.txt'));
    await searchable(page, 4);
    await addFiles(page, odd('odd.bin'));
    await seen(page.locator('.failure .why'));

    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save tea.txt' }).click();
    t.equal((await saved).suggestedFilename(), 'tea.txt');
    await addFiles(page, [sample('lighthouses.md')]);
    await searchable(page, 5);
    await page.getByRole('button', { name: 'Remove lighthouses.md' }).click();
    await seen(page.getByText('Remove for good?'));
    t.same(await violations(page), []);
    await page.keyboard.press('Escape');
    await page.getByText('Remove for good?').waitFor({ state: 'detached' });
    await searchable(page, 5);
    await page.getByRole('button', { name: 'Remove lighthouses.md' }).click();
    await page.getByRole('button', { name: 'Remove lighthouses.md for good' }).press('Enter');
    await searchable(page, 4);

    await ask(page, 'where is the waggle dance');
    await seen(page.getByText(/page \d of 5/));
    await seen(page.locator('.hit .thumbnail[data-state="shown"]'));
    const marked = await page.locator('.hit mark').allTextContents();
    t.ok(marked.length > 0);
    t.same(
      marked.filter((word) => !/waggle|dance/i.test(word)),
      [],
      'no stop word is marked',
    );
    t.same(await violations(page), []);
    await shoot(page, '2-words');

    await page.locator('.hit .title').first().click();
    await seen(page.locator('dialog[open] .large img'));
    t.same(await violations(page), []);
    await shoot(page, '3-hit');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByLabel('Picture to search with').setInputFiles(sample('chelsea.png'));
    await seen(page.getByAltText('Searching with chelsea.png'));
    await seen(page.locator('[data-layout="grid"] .hit').first().getByText('chelsea.png'));
    await shoot(page, '4-picture');
    await page.reload();
    await seen(page.getByAltText('Searching with chelsea.png'));
    await seen(page.locator('.hit').first().getByText('chelsea.png'));
    await searchable(page, 4);
    await page.goBack();
    await answered(page, 'where is the waggle dance');
    await seen(page.locator('.usage div', { hasText: 'Searches' }).getByText('2', { exact: true }));

    await dropFile(page, '.search', 'dropped.png', sample('coffee.png'));
    await seen(page.getByAltText('Searching with dropped.png'));
    await seen(page.locator('.hit').first().getByText('coffee.png'));
    await page.getByRole('button', { name: 'More like this: coffee.png' }).click();
    await seen(page.getByAltText('Searching with coffee.png'));
    await seen(page.locator('.hit').first().getByText('chelsea.png'));
    t.equal(await page.locator('.hit', { hasText: 'coffee.png' }).count(), 0, 'more than itself');
    // The same hit as before: the next search would cut this one off, and it would not count.
    await seen(page.locator('.usage div', { hasText: 'Searches' }).getByText('4', { exact: true }));
    await pastePicture(page, sample('chelsea.png'));
    await seen(page.locator('.hit').first().getByText('chelsea.png'));

    await page.getByRole('button', { name: /^Pay .* USD$/ }).click();
    await seen(page.getByText('0.0475 USD'));
    await page.getByText(/^Requests/).click();
    await seen(page.getByText('402', { exact: true }).first());

    await page.getByRole('button', { name: 'Destroy and get the receipt' }).click();
    await page.getByRole('button', { name: 'Destroy', exact: true }).click();
    await seen(page.getByText(/The signature is good/));
    t.match(await page.locator('.receipt').textContent(), /4 items[\s\S]*5 searches[\s\S]*0\.0475 USD/);
    t.same(await violations(page), []);
    await shoot(page, '6-receipt');
    t.same(faults, []);
    t.same(
      requested.filter((address) => /waggle|where/.test(address)),
      [],
      'what is searched for stands in no address that is sent',
    );
  });
}
