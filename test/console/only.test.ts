import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { sample } from './files.ts';
import { addFiles, answered, ask, rent, searchable } from './page.ts';

/** Searches of some files alone, in a real browser against a real server. */

const lacking = missing();
if (lacking) {
  t.test('the console in a browser', { skip: lacking }, async () => undefined);
} else {
  t.setTimeout(2 * PATIENCE_MS);
  const server = await startTestServer(t);
  const browser = await openBrowser(t);

  t.test('which files may be found is asked of the server, and stands in the address', async (t) => {
    const { page, faults } = await visit(browser, server.url);
    const sent: { filter?: object }[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/search')) sent.push(JSON.parse(request.postData() ?? '{}'));
    });
    await rent(page);
    await addFiles(page, ['almanac.pdf', 'lighthouses.md', 'chelsea.png'].map(sample));
    await searchable(page, 3);
    await ask(page, 'light');
    t.equal(sent.at(-1)!.filter, undefined);
    await page.getByText('Only in some files').click();
    await page.getByLabel('Name', { exact: true }).fill('almanac');
    await seen(page.getByText('one condition'));
    t.same(await violations(page), []);
    await page.getByLabel('Kind').selectOption('Text');
    await page.getByLabel('Added from').fill('2020-01-01');
    await shoot(page, 'only');
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await page.waitForURL((url) => url.hash.includes('name=almanac'));
    await answered(page, 'light');
    await page.locator('.hit', { hasText: 'lighthouses.md' }).first().waitFor({ state: 'detached' });
    t.match(sent.at(-1)!.filter, { name: '*almanac*', not: { media_type: ['image/*'] } });
    const found = await page.locator('.hit').allTextContents();
    t.ok(found.length > 0);
    t.ok(
      found.every((text) => text.includes('almanac.pdf')),
      'nothing else is found',
    );
    await page.reload();
    await answered(page, 'light');
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'almanac');
    await page.getByText('Only in some files').click();
    await page.getByLabel('Metadata').fill('year=2024');
    await page.getByLabel('Metadata').press('Enter');
    await page.waitForURL((url) => url.hash.includes('meta=year'));
    await seen(page.getByText('No file meets the conditions'));
    t.match(sent.at(-1)!.filter, { metadata: { year: 2024 } });
    await shoot(page, 'only-nothing');
    t.same(faults, []);
  });
}
