import { existsSync, globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import t from 'tap';
import { Agent } from '../../../cli/cli-agent.ts';
import { onlyDeep } from '../../../rig/deep.ts';
import { lacksProgram, outputOf } from '../../../rig/run-program.ts';
import { startTestServer } from '../../../rig/test-server.ts';

/** The client that openapi-generator makes of the description for Java pays, rents, uploads, searches, and reads errors. */

const root = resolve(import.meta.dirname, '../../../..');
const [generator] = globSync(join(root, '.build/openapi-generator/*.jar'));
const absent =
  lacksProgram('java', 'javac', 'mvn') ||
  (generator === undefined && 'no openapi-generator: make clients gets it');

t.setTimeout(600_000);

t.test('the Java client made of the description', { skip: onlyDeep || absent }, async (t) => {
  const folder = t.testdir({});
  const server = await startTestServer(t, { DATA_DIR: join(folder, 'data') });
  const description = join(folder, 'openapi.json');
  await writeFile(description, await (await fetch(`${server.url}/openapi.json`)).text());
  const made = join(folder, 'made');
  const options = ['-i', description, '-g', 'java', '-o', made];
  await outputOf('java', ['-jar', generator!, 'generate', ...options], { cwd: folder });
  await outputOf('mvn', ['-q', '-B', 'compile'], { cwd: made });
  const list = join(folder, 'classpath');
  await outputOf('mvn', ['-q', '-B', 'dependency:build-classpath', `-Dmdep.outputFile=${list}`], {
    cwd: made,
  });
  const classes = join(folder, 'classes');
  const path = [classes, join(made, 'target/classes'), (await readFile(list, 'utf8')).trim()].join(':');
  const program = join(import.meta.dirname, 'java/GeneratedClient.java');
  await outputOf('javac', ['-d', classes, '-cp', path, program]);
  t.ok(existsSync(join(classes, 'GeneratedClient.class')));

  const agent = new Agent(folder, server.url);
  await agent.run(['wallet', 'new']);
  const sign = [process.execPath, join(root, 'src/bin/farthing.js'), 'sign'];
  const out = await outputOf('java', ['-cp', path, 'GeneratedClient', server.url, ...sign], {
    env: agent.environment,
  });
  t.same(JSON.parse(out.slice(out.indexOf('{'))), {
    paid: ['searchable', true, 'log.txt'],
    inside: ['searchable', 'log.txt', 'text/plain'],
    problems: ['field_invalid', 'item_not_found', 'workspace_unauthorized'],
    usage: ['active', 1],
    ended: ['disposed', 3],
  });
});
