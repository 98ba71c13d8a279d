import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { startTestServer } from '../rig/test-server.ts';
import { get } from '../server/http/raw-get.ts';
import { BUILT, notBuilt, PATIENCE_MS } from './browser.ts';

t.setTimeout(PATIENCE_MS);
/** What browsers ask for, and other clients do not. */
const BROWSER = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
const lacking = notBuilt();
if (lacking) t.plan(0, lacking);
const server = await startTestServer(t);

t.test('the page allows nothing inline and no other origin', async (t) => {
  const response = await fetch(server.url, BROWSER);
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(response.headers.get('cache-control'), 'no-cache');
  const policy = response.headers.get('content-security-policy')!;
  t.match(policy, /default-src 'self'/);
  t.match(policy, /frame-ancestors 'none'/);
  t.notMatch(policy, /unsafe|\*|https?:/);
  const page = await response.text();
  t.notMatch(page, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=/);
  t.notMatch(page, /(src|href)="(?!\/assets\/)/);
});

t.test('an unchanged page is answered 304', async (t) => {
  const etag = (await fetch(server.url, BROWSER)).headers.get('etag')!;
  const again = await fetch(server.url, {
    headers: { ...BROWSER.headers, 'If-None-Match': `"other", W/${etag}` },
  });
  t.equal(again.status, 304);
  t.equal(await again.text(), '');
});

t.test('assets are immutable, and compressed as the client accepts', async (t) => {
  const names = readdirSync(join(BUILT, 'assets')).filter((name) => /\.(js|css|svg)$/.test(name));
  t.ok(names.length >= 4);
  for (const name of names) {
    const path = `/assets/${name}`;
    const plain = await get(server, path, {});
    const br = await get(server, path, { 'Accept-Encoding': 'gzip, deflate, br' });
    const gzip = await get(server, path, { 'Accept-Encoding': 'gzip, br;q=0' });
    t.match(plain.headers, { 'cache-control': /immutable/, vary: 'Accept-Encoding' }, name);
    t.notOk(plain.headers['content-encoding']);
    t.equal(br.headers['content-encoding'], 'br');
    t.equal(gzip.headers['content-encoding'], 'gzip');
    t.ok(brotliDecompressSync(br.body).equals(plain.body));
    t.ok(gunzipSync(gzip.body).equals(plain.body));
    t.equal(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size, 3);
  }
  t.equal((await fetch(`${server.url}/assets/..%2findex.html`)).status, 404);
  t.equal((await fetch(`${server.url}/assets/main.js`)).status, 404);
});
