import { writeSync } from 'node:fs';
import { errorCode } from '../../../../src/protocol/error.ts';
import { Random } from '../../../rig/random.ts';
import { itemOf, openWithGraphs, passage, towards } from '../fixtures.ts';

/**
 * Writes to a few tenants at once until it is killed: node writer.ts FOLDER SEED; with a third argument, to one tenant until
 * nothing more fits. Prints `> what` before a write, `< what` once it is durable, `! what code` when it is refused.
 */
const [folder = '', seed = '1', untilFull] = process.argv.slice(2);
const WRITERS = 6;
const TENANTS = 4;
const random = new Random(Number(seed));
const tenants = openWithGraphs(folder);
let serial = 0;

const say = (line: string): void => void writeSync(1, `${line}\n`);

async function said(what: string, work: () => Promise<unknown>): Promise<string | undefined> {
  say(`> ${what}`);
  try {
    await work();
    say(`< ${what}`);
    return undefined;
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    say(`! ${what} ${code}`);
    return code;
  }
}

function append(tenant: string, count: number): Promise<string | undefined> {
  serial += 1;
  const id = `r${seed}n${serial}`;
  const segments = Array.from({ length: count }, (_, index) =>
    passage(id, `w${id} common ${'filler '.repeat(random.below(200))}`, {
      place: index,
      vectors: { text_semantic: towards(random.next()) },
    }),
  );
  return said(`append ${tenant} ${id} ${count}`, () =>
    tenants.use(tenant, { create: true }, (shard) => shard.append(itemOf(id, { segments: count }), segments)),
  );
}

async function removeOne(tenant: string): Promise<void> {
  if (!tenants.exists(tenant)) return;
  const item = await tenants
    .use(tenant, {}, (shard) => random.pick(shard.items({ limit: 1_000 })))
    .catch(() => undefined);
  if (item)
    await said(`remove ${tenant} ${item.id}`, () =>
      tenants.use(tenant, {}, (shard) => shard.removeItem(item.id)),
    );
}

async function write(): Promise<void> {
  for (;;) {
    const slot = random.below(TENANTS);
    const tenant = `ws_${slot}_${generations[slot]}`;
    const choice = random.next();
    if (choice < 0.03) {
      // Its name is not reused, like a workspace's.
      generations[slot] = `${seed}_${++serial}`;
      await said(`dispose ${tenant}`, () => tenants.dispose(tenant));
    } else if (choice < 0.2) await removeOne(tenant);
    else await append(tenant, 1 + random.below(12));
  }
}

await tenants.resumeDisposals();
const generations = Array.from({ length: TENANTS }, () => '0');
if (untilFull === undefined) {
  await Promise.all(Array.from({ length: WRITERS }, write));
} else {
  let refusals = 0;
  while (refusals < 3) if ((await append('ws_full', 20)) !== undefined) refusals += 1;
  await tenants.close();
}
