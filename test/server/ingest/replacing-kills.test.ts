import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import t from 'tap';
import { CrashPlace } from '../../cluster/crash-place.ts';
import { KilledServer } from '../../payment/crash/killed-server.ts';
import { startOutsideFacilitator } from '../../payment/crash/outside/outside-facilitator.ts';
import { deep } from '../../rig/deep.ts';
import { Random } from '../../rig/random.ts';
import { TestAgent, TestWorkspace } from '../../rig/test-server.ts';

/** A server that is killed while it replaces an item: whoever searches finds the old version or the new one, never both, never neither. */

const KILLS = Number(process.env.KILLS ?? deep(4, 60));
const seed = Number(process.env.SEED ?? randomBytes(4).readUInt32LE());

interface Listed {
  readonly id: string;
  readonly key?: string;
  readonly state: string;
}

t.test(
  `killed ${KILLS} times while an item is replaced, seed ${seed}`,
  { timeout: 3 * 3_600_000 },
  async (t) => {
    const random = new Random(seed);
    const place = await CrashPlace.open({}, random);
    const facilitator = await startOutsideFacilitator(random.fork(), () => undefined);
    const server = new KilledServer(place, facilitator.settings);
    t.teardown(async () => {
      await server.kill();
      await facilitator.close();
      await place.close({ keep: false });
    });
    await server.start();
    const rented = await new TestAgent(server.url).rent({ ttl_minutes: 24 * 60 });
    const here = () => new TestWorkspace(server.url, rented.id, rented.token);
    let [sent, searchable] = [0, 0];

    const put = async (version: number, headers: Record<string, string>) => {
      const form = new FormData();
      form.set('key', 'the log');
      form.set('file', new File([`This log is version ${version}.`], 'log.txt'));
      return here().send('POST', '/ingest', form, headers);
    };
    /** Versions that a search finds now. */
    const found = async (): Promise<number[]> => {
      const { body } = await here().search({
        query: 'log version',
        families: ['raw'],
        filter: { key: 'the log' },
      });
      return body.hits.map(({ snippet }: { snippet: string }) => Number(/version (\d+)/.exec(snippet)![1]));
    };
    const listed = async (): Promise<Listed[]> => (await here().send('GET', '/items')).body.items;

    await put(++sent, { Prefer: 'wait=30' });
    searchable = sent;
    for (let kill = 0; kill < KILLS; kill++) {
      const ended = new AbortController();
      const running = (work: () => Promise<void>) =>
        (async () => {
          while (!ended.signal.aborted) await work();
        })().catch(() => undefined);
      const writing = [1, 2].map(() =>
        running(async () => {
          const version = ++sent;
          const { body } = await put(version, random.hits(0.5) ? { Prefer: 'wait=30' } : {});
          if (body.job?.state === 'searchable') searchable = Math.max(searchable, version);
        }),
      );
      const searching = running(async () => {
        const [least, versions] = [searchable, await found()];
        if (versions.length !== 1 || versions[0]! > sent) t.fail(`found ${versions}, at least ${least}`);
      });
      await after(random.below(400));
      const killed = server.kill();
      ended.abort();
      await Promise.all([killed, ...writing, searching]);
      await server.start();
      const now = await found();
      t.equal(now.length, 1, `kill ${kill}: versions ${now}`);
      // Jobs go on, and what was replaced is removed.
      const givingUp = Date.now() + 30_000;
      let left = await listed();
      for (; left.length > 1 && Date.now() < givingUp; left = await listed()) await after(5);
      const versions = await found();
      t.equal(versions.length, 1, `kill ${kill}: versions ${versions} after its jobs have ended`);
      const states = left.map(({ state }) => state);
      t.same(states, ['searchable'], `kill ${kill}: one item is left of ${JSON.stringify(left)}`);
      searchable = versions[0]!;
      if (!t.passing()) break;
    }
  },
);
