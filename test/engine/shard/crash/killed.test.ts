import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { deep } from '../../../rig/deep.ts';
import { Random } from '../../../rig/random.ts';
import { itemOf, open, openWithGraphs, passage } from '../fixtures.ts';
import { Expected } from './expected.ts';
import '../../../rig/teardown-order.ts';

/** `make crash-index` kills 200 times. */
const KILLS = Number(process.env.KILLS ?? deep(4, 30));
const SEED = Number(process.env.SEED ?? 1);
const WRITER = join(import.meta.dirname, 'writer.ts');

/** Writes that may pass while the test waits for a disposal. */
const PATIENCE = 300;

/**
 * Runs the writer, and kills it after a number of durable writes, or at the first disposal after them. Resolves with how it
 * ended.
 */
async function runWriter(
  expected: Expected,
  command: readonly string[],
  killAfter: number,
  { atDisposal = false } = {},
): Promise<number | NodeJS.Signals | null> {
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const until = expected.acknowledged + killAfter;
  // Reads what it printed before it died.
  for await (const line of createInterface({ input: child.stdout })) {
    expected.hear(line);
    const due = expected.acknowledged >= until;
    const meant = !atDisposal || line.startsWith('> dispose') || expected.acknowledged >= until + PATIENCE;
    if (due && meant) child.kill('SIGKILL');
  }
  const [status, signal] = await ended;
  return signal ?? status;
}

t.test(`killed ${KILLS} times while it writes, an index keeps what it acknowledged`, async (t) => {
  const folder = t.testdir();
  const random = new Random(SEED);
  const expected = new Expected();
  let graphsFound = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const seed = SEED * 10_000 + kill;
    await runWriter(expected, [process.execPath, WRITER, folder, String(seed)], 5 + random.below(60), {
      atDisposal: kill % 2 === 1,
    });
    const tenants = openWithGraphs(folder);
    await tenants.resumeDisposals();
    await expected.compare(t, tenants);
    for (const tenant of await tenants.list()) {
      await tenants.use(tenant, {}, (shard) => shard.whenIdle());
      const files = readdirSync(join(folder, tenant, 'shard'));
      const graphs = files.filter((name) => name.startsWith('graph-'));
      graphsFound += graphs.length;
      t.ok(
        new Set(graphs.map((name) => name.split('-')[1])).size === graphs.length,
        `one for each space: ${graphs}`,
      );
    }
    await tenants.close();
  }
  t.ok(graphsFound > 0 || KILLS < 50, `${graphsFound} graphs`);
  t.ok(expected.acknowledged >= 5 * KILLS, `${expected.acknowledged} writes were acknowledged, seed ${SEED}`);
  const merged = `${expected.merged} times an index was found with a merged block`;
  const cut = `${expected.disposalsCut} disposals were cut off by a kill`;
  if (KILLS < 50) t.comment(`${merged}; ${cut}`);
  else t.ok(expected.merged > 0 && expected.disposalsCut > KILLS / 20, `${merged}; ${cut}`);
});

t.test('on a full disk an append reports it, and nothing acknowledged is lost', async (t) => {
  const folder = t.testdir();
  const expected = new Expected();
  const refused: string[] = [];
  const hear = expected.hear.bind(expected);
  expected.hear = (line) => {
    if (line.startsWith('!')) refused.push(line.split(' ').at(-1)!);
    hear(line);
  };
  // A limit of 3 MiB for each file stands for a full disk. The environment is empty because a module that the test runner
  // loads into every process ends it at SIGXFSZ, which Node ignores.
  const limited = [
    'bash',
    '-c',
    'ulimit -f 3072 && exec env -i "$@"',
    'bash',
    process.execPath,
    WRITER,
    folder,
    '1',
    'until-full',
  ];
  t.equal(await runWriter(expected, limited, Number.POSITIVE_INFINITY), 0, 'the writer goes on to its end');
  t.same(refused, ['storage_full', 'storage_full', 'storage_full']);
  t.ok(expected.acknowledged > 10);
  const tenants = open(folder);
  t.teardown(() => tenants.close());
  await expected.compare(t, tenants);
  await tenants.use('ws_full', {}, (shard) =>
    shard.append(itemOf('later'), [passage('later', 'there is room again')]),
  );
});
