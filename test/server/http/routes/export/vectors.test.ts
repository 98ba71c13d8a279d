import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { Farthing, type Workspace } from '../../../../../src/client/index.ts';
import type { ExportLine } from '../../../../../src/protocol/schema/export.ts';
import { openEmbedded } from '../../../../engine/encode/rig/embedded.ts';
import { zipOf } from '../../../../readers/samples/archives.ts';
import { startTestServer, TestAgent } from '../../../../rig/test-server.ts';

/** The vectors of a workspace in its export, and what an import makes of them. */

const samples = resolve(import.meta.dirname, '../../../../../samples');
const server = await startTestServer(t);
const agent = new TestAgent(server.url);
const client = new Farthing({ baseUrl: server.url });
const rent = async (): Promise<Workspace> => client.workspaces.open(await agent.rent());

const TEXTS = ['Tides follow the moon.', 'The keeper of the lighthouse counts gulls at dawn.'];

type Line<Type> = Extract<ExportLine, { readonly type: Type }>;

const linesIn = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportLine);

function of<Type extends ExportLine['type']>(lines: readonly ExportLine[], type: Type): Line<Type>[] {
  return lines.filter((line): line is Line<Type> => line.type === type);
}

const floats = (base64 = '') => {
  const bytes = Buffer.from(base64, 'base64');
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, at) => bytes.readFloatLE(4 * at));
};

const norm = (vector: Float32Array) => Math.hypot(...vector);

async function filled(): Promise<Workspace> {
  const workspace = await rent();
  for (const [at, text] of TEXTS.entries()) await workspace.ingest(Buffer.from(text), { name: `${at}.txt` });
  await workspace.ingest(`${samples}/chelsea.png`);
  await workspace.ingest(zipOf({ 'inside.txt': 'Gulls follow the plough inland.' }), { name: 'notes.zip' });
  return workspace;
}

const workspace = await filled();
const plain = await buffer(workspace.export());
const bytes = await buffer(workspace.export({ vectors: true }));
const lines = linesIn(bytes);

t.test('a passage has the very vector that the encoder gives for it', async (t) => {
  const encoder = await openEmbedded({ provider: 'native' });
  t.teardown(() => encoder.close());
  const spaces = of(lines, 'space');
  for (const { name, modelSha256, dimensions } of encoder.spaces)
    t.match(
      spaces.find(({ space }) => space === name),
      { model_sha256: modelSha256, dimensions, element: 'float32le', weights: /MiniLM|mobilenet/ },
    );
  const passages = of(lines, 'passages').flatMap(({ passages }) => passages);
  const texts = [...TEXTS, 'Gulls follow the plough inland.'];
  const { text_semantic: made } = await encoder.encodeIngest('text', texts, { tenant: 'ws_test' });
  for (const [at, text] of texts.entries()) {
    const { vectors } = passages.find((passage) => passage.text.includes(text))!;
    t.strictSame(floats(vectors?.text_semantic), made![at], text);
    t.same(Object.keys(vectors!), ['text_semantic']);
  }
});

t.test('a picture has its vectors, and all are counted', async (t) => {
  const item = of(lines, 'item').find(({ item }) => item.name === 'chelsea.png')!.item;
  const [line, ...others] = of(lines, 'pictures');
  t.same(others, []);
  t.equal(line!.item, item.id);
  const { visual_picture, visual_words } = line!.pictures[0]!.vectors;
  for (const vector of [visual_picture, visual_words].map(floats)) t.ok(Math.abs(norm(vector) - 1) < 1e-3);
  const spaces = of(lines, 'space');
  const dimensions = (name: string) => spaces.find(({ space }) => space === name)?.dimensions;
  t.equal(floats(visual_picture).length, dimensions('visual_picture'));
  t.equal(floats(visual_words).length, dimensions('visual_words'));
  const holders = [
    ...of(lines, 'passages').flatMap(({ passages }) => passages),
    ...of(lines, 'pictures').flatMap(({ pictures }) => pictures),
  ];
  const count = holders.reduce((sum, { vectors = {} }) => sum + Object.keys(vectors).length, 0);
  t.match(lines.at(-1), { type: 'end', vectors: count });
});

t.test('without the flag nothing of them is there, with it nothing else is missing', async (t) => {
  t.notMatch(plain.toString(), /vector|"space"|"pictures"/);
  const bare = lines
    .filter(({ type }) => type !== 'space' && type !== 'pictures')
    .map((line) => {
      if (line.type === 'passages')
        return { ...line, passages: line.passages.map(({ vectors: _, ...passage }) => passage) };
      if (line.type === 'item' || line.type === 'content') return line;
      const { vectors: _, ...rest } = line as Line<'workspace' | 'end'>;
      return rest;
    })
    .map((line) => JSON.stringify(line));
  const at = (text: string) => text.replace(/"exported_at":"[^"]*"/, '');
  t.equal(at(bare.join('\n')), at(plain.toString().trimEnd()));
  const url = `${server.url}/agent/v1/workspaces/${workspace.id}/export?vectors=yes`;
  t.equal((await fetch(url, { headers: { Authorization: `Bearer ${workspace.token}` } })).status, 400);
});

t.test('an import leaves vectors out and says so: forged ones change nothing', async (t) => {
  const forged = bytes
    .toString()
    .replaceAll(/"(text_semantic|visual_\w+)":"[^"]*"/g, `"$1":"${'f38A'.repeat(512)}"`);
  t.not(forged, bytes.toString());
  const to = await rent();
  t.match(await to.import(Buffer.from(forged)), { imported: 4, failed: [], vectorsLeftOut: true });
  const vectors = (lines: readonly ExportLine[]) =>
    of(lines, 'passages').map(({ passages }) => passages.map(({ vectors }) => vectors));
  t.same(vectors(linesIn(await buffer(to.export({ vectors: true })))), vectors(lines), 'made anew');
  t.match(await to.import(plain), { imported: 0, vectorsLeftOut: false });
});
