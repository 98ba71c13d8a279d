import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { startTestServer } from '../../../rig/test-server.ts';
import { get } from '../raw-get.ts';

/** Texts about the server itself, which anybody may ask for without paying. */

const TEXTS = ['/openapi.json', '/agents.md', '/llms.txt'];
const server = await startTestServer(t, { CORS_ORIGINS: 'https://one.example' });

t.test('each text is compressed as the client accepts, and answered 304 when unchanged', async (t) => {
  for (const path of TEXTS) {
    const plain = await get(server, path, {});
    const br = await get(server, path, { 'Accept-Encoding': 'gzip, deflate, br' });
    const gzip = await get(server, path, { 'Accept-Encoding': 'gzip, br;q=0' });
    t.equal(plain.headers['content-encoding'], undefined);
    t.ok(brotliDecompressSync(br.body).equals(plain.body), path);
    t.ok(gunzipSync(gzip.body).equals(plain.body), path);
    for (const { status, headers } of [plain, br, gzip]) {
      t.equal(status, 200);
      t.match(headers, { vary: 'Origin, Accept-Encoding', 'cache-control': /max-age=60/ });
    }
    for (const { headers } of [plain, br, gzip]) {
      const known = { 'If-None-Match': headers.etag!, 'Accept-Encoding': headers['content-encoding'] ?? '' };
      const again = await get(server, path, known);
      t.equal(again.status, 304);
      t.equal(again.body.byteLength, 0);
      t.equal(again.headers.etag, headers.etag);
      t.equal(again.headers['content-length'], headers['content-length'], 'a cache may take it over');
      t.equal((await get(server, path, { 'If-None-Match': '"other"' })).status, 200);
    }
  }
});
