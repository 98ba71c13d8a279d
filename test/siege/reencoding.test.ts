import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BenchWorkspace, startServer } from '../../bench/rig/agent.ts';
import { BESIEGED } from '../../bench/siege/attacks.ts';
import { besiege } from '../../bench/siege/siege.ts';
import { PROBE, rent, staged, tokenClient } from '../../bench/siege/stage.ts';
import { Library } from '../../src/encode/models/library.ts';
import { CACHE, SHARED } from '../encode/rig/embedded.ts';
import { folderOf, potion } from '../encode/rig/other-models.ts';
import { onlyDeep } from '../rig/deep.ts';
import { CACHE_DIR, FEW_WORKERS } from '../rig/test-server.ts';

const skip = onlyDeep || (existsSync(join(SHARED, 'models')) ? false : 'the other models are not here');
const SECONDS = 6;
const SEARCHES_PER_SECOND = 5;
const SENTENCES = 40_000;
const ATTACKS = ['uploads to a cheap workspace beside backups', 'large searches of a cheap workspace'];

t.test('a change of model under attack refuses no search of a paying client', { skip }, async (t) => {
  const models = t.testdir();
  await folderOf(models, [await potion()], { text_semantic: 'potion-base-2M', visual: 'mobilenet-v2' });
  const folder = join(models, 'data');
  const settings = { ...BESIEGED, ...FEW_WORKERS, CACHE_DIR, MODELS_DIR: models, QUERY_WAIT_MS_MAX: '0' };
  const former = await startServer(settings, { folder });
  const [own, attacked] = [await rent(former.url), await rent(former.url)];
  const text = Array.from({ length: SENTENCES }, (_, at) => `Ship ${at} lies in harbour ${at % 97}.`).join(
    ' ',
  );
  for (const workspace of [own, attacked]) await workspace.ingest('ships.txt', Buffer.from(text));
  await former.stop();

  await new Library(models, CACHE).use('all-MiniLM-L6-v2');
  const server = await startServer(settings, { preload: PROBE, folder });
  t.teardown(() => server.stop());
  const again = ({ url, token }: BenchWorkspace) =>
    new BenchWorkspace(`${server.url}${new URL(url).pathname}`, token);
  const stage = await staged(server, tokenClient(again(own)), again(attacked));
  const isChanging = async () => {
    const ready = (await (await fetch(`${server.url}/readyz`)).json()) as { reencoding?: object };
    return ready.reencoding !== undefined;
  };
  t.ok(await isChanging(), 'a change is under way');
  for (const attack of ATTACKS) {
    const seen = await besiege({
      ...stage,
      attacks: [attack],
      secondsBefore: 0,
      seconds: SECONDS,
      searchesPerSecond: SEARCHES_PER_SECOND,
      isBusy: true,
    });
    t.same(seen.during.refused, {}, attack);
    t.equal(seen.during.answered, SECONDS * SEARCHES_PER_SECOND, attack);
    t.ok(seen.isGone, 'no trace is left');
  }
  while (await isChanging()) await new Promise((next) => setTimeout(next, 100));
  t.equal(await stage.client.search('who counts gulls?'), 'answered');
});
