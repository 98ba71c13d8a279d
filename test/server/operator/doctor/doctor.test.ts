import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Finding } from '../../../../src/protocol/schema/operator.ts';
import { providers } from '../../../../src/server/operator/doctor/models.ts';
import { readConfig } from '../../../../src/server/settings/config.ts';
import { MODELS } from '../../../engine/encode/rig/embedded.ts';
import { environmentOf } from '../../../rig/environment.ts';
import { runCommand } from '../commands/run-command.ts';
import '../../../rig/teardown-order.ts';
import { listening } from '../../../rig/ports.ts';

async function examined(t: Test, environment: Record<string, string> = {}) {
  // Asked for only where it is needed: it empties the folder.
  const data = environment.DATA_DIR ?? join(t.testdir({}), 'data');
  const variables = environmentOf({ PORT: '0', ...environment, DATA_DIR: data });
  const { status: code, written } = await runCommand(variables, ['doctor', '--json']);
  const { healthy, findings } = JSON.parse(written) as { healthy: boolean; findings: Finding[] };
  t.notOk(existsSync(data), 'nothing is made in the data folder');
  return { code, healthy, of: (check: string) => findings.find((one) => one.check === check), findings };
}

t.test('every part of the host is looked at, and each fault comes with its remedy', async (t) => {
  const { code, healthy, findings, of } = await examined(t);
  for (const check of [
    'settings',
    'processor',
    'kernel',
    'node',
    'glibc',
    'memory',
    'disk',
    'file limit',
    'model all-MiniLM-L6-v2',
  ])
    t.ok(of(check), check);
  for (const check of [
    'provider cuda',
    'facilitator',
    'clock',
    'port',
    'confinement seccomp',
    'confinement landlock',
  ])
    t.ok(of(check), check);
  for (const { state, remedy, check } of findings) t.equal(state === 'ok', remedy === undefined, check);
  t.equal(code, healthy ? 0 : 1);
  t.match(of('kernel'), { state: 'ok', found: /^(scalar|avx2|avx512|avx512vnni)\b/ }, 'by its name');
  t.match(of('model all-MiniLM-L6-v2'), { state: 'ok' });
  t.match(of('facilitator'), { state: 'warning', found: /no money moves/ });
  t.match(of('data folder'), { state: 'warning', found: /is not there/, remedy: /first start/ });
  const inFile = await examined(t, { DATA_DIR: join(import.meta.filename, 'data') });
  t.match(inFile.of('data folder'), { state: 'problem', found: /is no folder/ });
});

t.test(
  'a damaged model, a port in use, and a facilitator that is away with a clock of its own are found',
  async (t) => {
    const taken = await listening(t, createServer());
    const folder = join(t.testdir({}), 'models');
    cpSync(MODELS, folder, { recursive: true });
    writeFileSync(join(folder, 'all-MiniLM-L6-v2/tokenizer.json'), '{}');
    rmSync(join(folder, 'silero-vad/model.onnx'));
    const late = createHttpServer((_, response) =>
      response
        .writeHead(200, { Date: new Date(Date.now() - 3_600_000).toUTCString() })
        .end('{"kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:8453"}]}'),
    );
    const { url } = await listening(t, late);
    const { code, of } = await examined(t, {
      DATA_DIR: join(folder, '../data'),
      MODELS_DIR: folder,
      PORT: String(taken.port),
      FACILITATOR: url,
      PAY_TO: `0x${'1'.repeat(40)}`,
    });
    t.equal(code, 1);
    t.match(of('model all-MiniLM-L6-v2'), { state: 'problem', remedy: /models pull all-MiniLM-L6-v2/ });
    t.match(of('model silero-vad'), { state: 'problem', found: /is not installed/ });
    t.match(of('port'), { state: 'warning', found: /is taken/ });
    t.match(of('facilitator'), { state: 'ok' });
    t.match(of('clock'), { state: 'problem', remedy: /synchronisation/ });
  },
);

t.test('a GPU without its library or its weights does not pass for one that may serve', async (t) => {
  const folder = join(t.testdir({}), 'models');
  cpSync(MODELS, folder, { recursive: true });
  for (const name of ['model_fp32.onnx', 'model_fp32_hub.onnx'])
    rmSync(join(folder, 'all-MiniLM-L6-v2', name), { force: true });
  const settings = readConfig(environmentOf({ MODELS_DIR: folder, DATA_DIR: join(folder, '../data') }));
  const present = () => undefined;
  const [cuda, , cpu] = await providers(settings, present);
  const pull = /npx farthing admin models pull all-MiniLM-L6-v2/;
  t.match(cuda, { state: 'warning', found: /weights of all-MiniLM-L6-v2 for cuda/, remedy: pull });
  t.match(cpu, { state: 'ok' });
  const [forced, other] = await providers({ ...settings, PROVIDER: 'cuda' }, present);
  t.match(forced, { state: 'problem', remedy: pull });
  t.match(other, { state: 'ok', found: /PROVIDER=cuda/ });
  const [, unasked] = await providers(settings);
  t.match(unasked, { state: 'ok', found: /used with FARTHING_PROVIDER=webgpu alone/ });
  const [, webgpu] = await providers({ ...settings, PROVIDER: 'webgpu' });
  t.match(webgpu, { state: 'problem', found: /weights of all-MiniLM-L6-v2 for webgpu/, remedy: pull });
});
