import { createHash, randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { download, type Wanted } from '../../../../src/engine/encode/models/download.ts';
import { type HubFile, startHub } from './hub.ts';
import '../../../rig/teardown-order.ts';

const content = randomBytes(300_000);
const sha256 = createHash('sha256').update(content).digest('hex');
const PATH = '/model.onnx';

/** Pulls the only file of a hub, without pauses between attempts. */
async function pulled(t: Test, file: HubFile, wanted: Partial<Wanted> = {}, attempts = 4) {
  const hub = await startHub(t, { [PATH]: file });
  const path = join(t.testdir({}), 'models/model.onnx');
  const seen: [number, number | undefined][] = [];
  const run = () =>
    download({ url: hub.url + PATH, ...wanted }, path, {
      attempts,
      pause: async () => {},
      onProgress: (done, total) => seen.push([done, total]),
    });
  return { hub, run, seen, part: `${path}.part` };
}

t.test('a broken transfer resumes where it ended, also in a later process', async (t) => {
  let part = '';
  const kept = (bytes: number) => () => existsSync(part) && statSync(part).size > bytes;
  const faults = [
    { breakAfter: 70_000, when: kept(0) },
    { breakAfter: 150_000, when: kept(70_000) },
  ];
  const world = await pulled(t, { content, large: true, faults }, {}, 1);
  const { run, hub } = world;
  part = world.part;
  await t.rejects(run(), /broke off|ended after/);
  await t.rejects(run(), /broke off|ended after/);
  t.strictSame(await run(), { sha256, bytes: content.length });
  const starts = hub.requests.map(({ range }) => Number(/\d+/.exec(range ?? '0')![0]));
  t.equal(starts[0], 0);
  t.ok(starts[1]! > 0 && starts[2]! > starts[1]!, `${starts}`);
});

t.test('a server that is away for a moment, or ignores ranges, costs only time', async (t) => {
  const faults = [{ breakAfter: 70_000 }, { status: 503 }, { ranges: 'ignored' as const }];
  const { run } = await pulled(t, { content, large: true, faults });
  t.strictSame(await run(), { sha256, bytes: content.length });
});

t.test('wrong bytes are discarded, and both hashes reported', async (t) => {
  const { run, part } = await pulled(t, { content, large: true, faults: [{ wrongBytes: true }] });
  await t.rejects(run(), new RegExp(`thrown away: its hash is [0-9a-f]{64}, and should be ${sha256}`));
  t.notOk(existsSync(part));
});

t.test("the manifest's checksum outranks what the server says of its own content", async (t) => {
  const other = createHash('sha256').update('another file').digest('hex');
  const { run } = await pulled(t, { content, large: true }, { sha256: other, bytes: content.length });
  await t.rejects(run(), new RegExp(`should be ${other}`));
});

t.test('a file that neither manifest nor server describes is not kept', async (t) => {
  const { run, part } = await pulled(t, { content, large: true, bare: true });
  await t.rejects(run(), /neither the manifest nor the server says/);
  t.notOk(existsSync(part));
});
