import t from 'tap';
import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { deep } from '../rig/deep.ts';
import { startTestServer } from '../rig/test-server.ts';
import { missing, openBrowser, PATIENCE_MS, seen, shoot, violations, visit } from './browser.ts';
import { sample } from './files.ts';
import { addFiles, answered, ask, closeHit, rent, searchable } from './page.ts';

const CROWD = deep(200, 1000);
const lacking = missing();
if (lacking) {
  t.test('the console in a browser', { skip: lacking }, async () => undefined);
} else {
  t.setTimeout(4 * PATIENCE_MS);
  const server = await startTestServer(t);
  const browser = await openBrowser(t);

  t.test('a wallet of the browser signs on the right chain; one that refuses pays nothing', async (t) => {
    const account = privateKeyToAccount(generatePrivateKey());
    const asked: string[] = [];
    let willing = false;
    /** Stands for an extension of the browser: the key and the signing are real. */
    const request = async ({
      method,
      params = [],
    }: {
      method: string;
      params?: unknown[];
    }): Promise<unknown> => {
      asked.push(method);
      if (method === 'eth_requestAccounts') return { result: [account.address] };
      if (method === 'eth_chainId')
        return { result: asked.includes('wallet_switchEthereumChain') ? '0x2105' : '0x1' };
      if (method === 'wallet_switchEthereumChain') return { result: null };
      if (method !== 'eth_signTypedData_v4') throw new Error(`no such method: ${method}`);
      if (!willing) return { code: 4001 };
      const typed = JSON.parse(params[1] as string) as TypedDataDefinition;
      return { result: await account.sign({ hash: hashTypedData(typed) as Hex }) };
    };
    const { page, faults } = await visit(browser, server.url);
    await page.context().exposeFunction('standInWallet', request);
    await page.context().addInitScript(`
      const provider = { request: async (call) => {
        const { code, result } = await window.standInWallet(call);
        if (code) throw Object.assign(new Error('no'), { code });
        return result;
      } };
      window.addEventListener('eip6963:requestProvider', () => window.dispatchEvent(
        new CustomEvent('eip6963:announceProvider', { detail: { info: { name: 'Stand-in' }, provider } })));
    `);
    await page.reload();
    await page.getByRole('button', { name: 'Connect Stand-in' }).click();
    await page.getByRole('button', { name: 'Pay and open' }).click();
    await seen(page.getByText('The wallet refused to sign. Nothing was paid.'));
    willing = true;
    await page.getByRole('button', { name: 'Pay and open' }).click();
    await page.locator('.files').waitFor();
    t.same(asked.filter((method) => method === 'wallet_switchEthereumChain').length, 1);

    await page.reload();
    await page.locator('.files').waitFor();
    t.pass('a reload does not lose what was paid for');
    t.same(faults, []);
  });

  t.test(`${CROWD} hits can be reached, drawn as they come near`, async (t) => {
    const { page, faults } = await visit(browser, server.url);
    await rent(page);
    await addFiles(page, sample('almanac.pdf'));
    await searchable(page, 1);
    // A real answer, with its hits again and again: so many pages would take long to encode.
    await page.route('**/search', async (route) => {
      const response = await route.fetch({ timeout: PATIENCE_MS });
      const answer = (await response.json()) as { hits: object[] };
      const hitOf = (index: number) => ({ ...answer.hits[index % answer.hits.length], likely: true });
      const hits = Array.from({ length: CROWD }, (_, index) => hitOf(index));
      await route.fulfill({ response, json: { ...answer, hits } });
    });
    await page.getByRole('searchbox').fill('bees and tides');
    await page.keyboard.press('Enter');
    // By its id: looking for roles among so many elements takes the driver longer than the page takes to draw them.
    await seen(page.locator('#results-title', { hasText: `${CROWD} hits` }));
    t.ok((await page.locator('.hit').count()) < CROWD, 'drawn as they come near');
    // Each scroll to the end draws some more.
    while ((await page.locator('.hit').count()) < CROWD)
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.locator('.hit').last().scrollIntoViewIfNeeded();
    await page.locator('.hit').last().locator('.thumbnail[data-state="shown"]').waitFor();
    await page.locator('input[name=query]').fill('something else');
    t.equal(await page.locator('.hit').count(), CROWD, 'typing leaves them alone');
    await page.evaluate('scrollTo(0, 0)');
    t.same(faults, []);
  });

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

  t.test('scripts in names, texts, metadata and files of strangers do not run', async (t) => {
    const { page, faults } = await visit(browser, server.url);
    page.on('dialog', (dialog) => dialog.dismiss().then(() => t.fail('a dialog was opened')));
    const credentials = page.waitForRequest((request) => request.headers().authorization !== undefined);
    await rent(page);
    const asked = await credentials;
    const [, id] = /workspaces\/(ws_\w+)/.exec(asked.url())!;
    const headers = { Authorization: asked.headers().authorization! };
    const run = '<img src=x onerror="window.ran=1">';
    const script = `${run}<script>window.ran=1</script><svg onload="window.ran=1"><a href="javascript:window.ran=1">gulls</a>`;
    const escaped = script.replaceAll('<', '&lt;');
    const files: Readonly<Record<string, string>> = {
      [`${run}.txt`]: `Gulls say ${script} at noon.`,
      'page.html': `<!doctype html><title>${escaped}</title><h1>${escaped}</h1><p>Gulls: ${escaped} ${script}`,
      'notes.md': `# Gulls ${run}\n\n[gulls](javascript:window.ran=1) ${script}`,
      'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><script>window.ran=1</script><text y="50" onclick="window.ran=1">gulls</text></svg>`,
      'gulls.vtt': `WEBVTT\n\n00:01.000 --> 00:02.000\nGulls ${script}`,
    };
    const WS = `${server.url}/agent/v1/workspaces/${id}`;
    for (const [name, content] of Object.entries(files)) {
      const form = new FormData();
      form.set('file', new File([content], name));
      form.set('key', `key ${run} ${name}`);
      form.set('metadata', JSON.stringify({ [`by ${run}`]: script }));
      const answer = await fetch(`${WS}/ingest`, {
        method: 'POST',
        body: form,
        headers: { ...headers, Prefer: 'wait=60' },
      });
      t.equal(answer.status, 200, name);
    }
    await page.reload();
    await ask(page, 'gulls at noon');
    const titles = page.locator('.hit .title');
    t.ok((await titles.count()) > 0);
    for (let hit = 0; hit < (await titles.count()); hit++) {
      await titles.nth(hit).click();
      await page.locator('dialog[open]').waitFor();
      await closeHit(page);
    }
    t.same(faults, []);
    // The stored files, as a page of the same origin could show them.
    const { items } = (await (await fetch(`${WS}/items`, { headers })).json()) as { items: { id: string }[] };
    t.equal(items.length, Object.keys(files).length);
    const addresses = items.flatMap((item) =>
      ['content', 'preview', 'text', 'captions'].map((part) => `${WS}/items/${item.id}/${part}`),
    );
    await page.route('**/agent/v1/workspaces/**', (route) =>
      route.continue({ headers: { ...route.request().headers(), ...headers } }),
    );
    for (const address of [...addresses, `${WS}/export?content=true`]) {
      // What is saved as a file ends the navigation.
      const shown = await page.goto(address, { waitUntil: 'load' }).catch(() => undefined);
      if (shown) t.equal(await page.evaluate('window.ran'), undefined, address.slice(WS.length));
    }
    await page.goto(server.url);
    t.equal(await page.evaluate('window.ran'), undefined);
  });
}
