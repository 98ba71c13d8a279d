import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Farthing, type FolderPrice } from '../../src/client/index.ts';
import { startTestServer } from '../rig/test-server.ts';

const server = await startTestServer(t);
const farthing = () =>
  new Farthing({ baseUrl: server.url, account: privateKeyToAccount(generatePrivateKey()) });

/** Keeps the price that was told last. */
function priceTold() {
  let last: FolderPrice | undefined;
  const keep = (price: FolderPrice) => {
    last = price;
  };
  return { keep, told: () => last };
}

const FILES = {
  'gulls.txt': 'The lighthouse keeper counts gulls at dawn.',
  below: { 'tides.txt': 'Tides follow the moon.', 'broken.pdf': '%PDF-1.7 broken' },
  '.hidden': { 'secret.txt': 'not to be sent' },
};

t.test('one call uploads a folder, tells the price before and refusals after', async (t) => {
  const folder = t.testdir(FILES);
  const client = farthing();
  const { keep, told } = priceTold();
  const summary = await client.ingestFolder(folder, { onPrice: keep });
  t.match(told(), { files: 3, uploaded: 0, usd: '0.09' });
  t.match(summary, { ingested: 2, skipped: 0 });
  t.equal(summary.failed.length, 1);
  t.equal(client.spending.spentUsd, '0.06', 'what is refused costs nothing');

  writeFileSync(join(folder, 'more.txt'), 'Fog horns.');
  const again = await client.ingestFolder(folder, { onPrice: keep });
  t.match(told(), { files: 2, uploaded: 2 });
  t.match(again, { ingested: 1, skipped: 2 });
});

t.test('a price that is declined sends nothing', async (t) => {
  const client = farthing();
  const summary = await client.ingestFolder(t.testdir(FILES), { onPrice: () => false });
  t.match(summary, { ingested: 0, failed: [] });
  t.equal(client.spending.spentUsd, '0');
});
