import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import type { Services } from '../../../../src/server/http/access/services.ts';
import { serviceRoutes } from '../../../../src/server/http/routes/service.ts';
import { startTestServer } from '../../../rig/test-server.ts';
import { get } from '../raw-get.ts';

/** Texts about the server itself, which anybody may ask for without paying. */

const TEXTS = ['/openapi.json', '/agents.md', '/llms.txt'];
const server = await startTestServer(t, { CORS_ORIGINS: 'https://one.example' });

/** How many texts of at least so many characters this process, the server's, has made of data while `work` ran. */
async function serialised(charactersMin: number, work: () => Promise<unknown>): Promise<number> {
  const { stringify } = JSON;
  let count = 0;
  JSON.stringify = new Proxy(stringify, {
    apply: (target, self, given) => {
      const text: string | undefined = Reflect.apply(target, self, given);
      if ((text?.length ?? 0) >= charactersMin) count += 1;
      return text;
    },
  });
  try {
    await work();
  } finally {
    JSON.stringify = stringify;
  }
  return count;
}

t.test('the description is made once for all requests', async (t) => {
  const { body } = await get(server, '/openapi.json', {});
  const made = await serialised(1000, async () => {
    for (const encoding of ['identity', 'gzip', 'br', 'identity']) {
      const { status } = await get(server, '/openapi.json', { 'Accept-Encoding': encoding });
      t.equal(status, 200);
    }
  });
  t.equal(made, 0);
  t.match(JSON.parse(body.toString()), { openapi: '3.1.0', servers: [{ url: server.url }] });
});

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

t.test('it is made again when the public address or the unavailable families change', async (t) => {
  const state = { url: '', notes: '' };
  let made = 0;
  const price = { usd: '1' };
  const services = {
    baseUrl: () => state.url,
    terms: {},
    limits: { fileBytesMax: 1, jsonBodyBytesMax: 1 },
    prices: { shown: { search: price, ingest: price, item: price } },
    workspaces: {
      prices: {
        creation: () => ({ minutes: 15, amount: 17_500n }),
        shownCreation: () => price,
        shownExtension: () => price,
      },
    },
  } as unknown as Services;
  const routes = serviceRoutes(services, {
    notes: () => state.notes,
    description: () => {
      made += 1;
      return { description: state.notes, servers: [state.url] };
    },
  });
  const ask = async (path: string) => {
    const { handle } = routes.find((route) => route.path === path)!;
    const reply = await handle({ header: () => undefined } as unknown as Parameters<typeof handle>[0], {});
    if (!('raw' in reply)) throw new Error('no text');
    return { text: Buffer.from(reply.raw).toString(), etag: reply.headers.ETag };
  };
  const etags = new Set<string | undefined>();
  for (const [url, notes] of [
    ['', ''],
    ['http://here', ''],
    ['http://here', ' Not available on this server: visual (no model).'],
    ['http://here', ''],
  ]) {
    Object.assign(state, { url, notes });
    const before = made;
    for (let time = 0; time < 5; time += 1) {
      const { text, etag } = await ask('/openapi.json');
      t.same(JSON.parse(text), { description: notes, servers: [url] });
      etags.add(etag);
    }
    t.equal(made - before, 1);
    for (const path of TEXTS.slice(1)) t.match((await ask(path)).text, `${url}/`);
  }
  t.equal(etags.size, 3);
});
