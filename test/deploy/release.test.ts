import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { outputOf, runProgram } from '../rig/run-program.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const MAIN = { name: 'farthing', optionalDependencies: { 'farthing-linux-x64-gnu': version } };

interface Published {
  readonly name: string;
  readonly versions: Readonly<Record<string, object>>;
}

/** A registry of npm that takes what it is given, and tells of it. */
async function startRegistry(t: Pick<Test, 'teardown'>) {
  const taken: Published[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const name = decodeURIComponent(request.url!.slice(1).split(/[?/]/)[0]!);
    if (request.method === 'PUT') taken.push((await json(request)) as Published);
    const found = taken.find((one) => one.name === name);
    response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(found ? { ...found, 'dist-tags': { latest: version } } : {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, taken };
}

/** Packages as `make package` leaves them: the true client, and manifests alone of the others. */
async function packagesIn(folder: string, main: object = MAIN): Promise<string> {
  const into = join(folder, 'packages');
  mkdirSync(into);
  await outputOf(process.execPath, [
    '--no-warnings',
    join(root, 'scripts/package-client.ts'),
    join(into, 'client'),
  ]);
  for (const manifest of [main, { name: 'farthing-linux-x64-gnu' }] as { name: string }[]) {
    const source = join(folder, manifest.name);
    mkdirSync(source);
    writeFileSync(join(source, 'package.json'), JSON.stringify({ version, ...manifest }));
    await outputOf('npm', ['pack', '--pack-destination', into], { cwd: source });
  }
  return into;
}

async function rig(t: Pick<Test, 'teardown'>, main?: object) {
  const folder = temporaryFolder(t);
  const registry = await startRegistry(t);
  const packages = await packagesIn(folder, main);
  writeFileSync(
    join(folder, '.npmrc'),
    `registry=http://${registry.host}/\n//${registry.host}/:_authToken=a\n`,
  );
  const release = (words: readonly string[] = [], more: Record<string, string> = {}) =>
    runProgram(process.execPath, ['--no-warnings', join(root, 'scripts/release.ts'), ...words, packages], {
      cwd: folder,
      env: { ...BARE_ENVIRONMENT, PATH: process.env.PATH, HOME: folder, ...more },
    });
  return { release, names: () => registry.taken.map(({ name }) => name) };
}

t.test('a release is tried, made in order, and made once', async (t) => {
  const { release, names } = await rig(t);
  const tried = await release(['--dry-run']);
  t.equal(tried.status, 0, tried.output);
  t.same(names(), [], 'a trial publishes nothing');

  const made = await release();
  t.equal(made.status, 0, made.output);
  t.equal(names()[0], 'farthing-linux-x64-gnu', 'the native part comes before what asks for it');
  t.same(names().toSorted(), ['farthing', 'farthing-client', 'farthing-linux-x64-gnu']);

  const again = await release();
  t.equal(again.status, 0, again.output);
  t.equal(names().length, 3, 'what is there is left out');
});

t.test('another version than the tag or the tree names is not published', async (t) => {
  const { release, names } = await rig(t, { ...MAIN, version: '9.9.9' });
  const tagged = await release([], { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v9.9.9' });
  t.match(tagged, { status: 1, output: /the tag is v9\.9\.9/ });
  t.match(await release(), { status: 1, output: /9\.9\.9\.tgz is 9\.9\.9, and package\.json says/ });
  t.same(names(), []);
});

t.test('the workflow proves its identity in the one job that publishes, and runs what exists', (t) => {
  const { permissions, jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')) as {
    readonly permissions: object;
    readonly jobs: Readonly<
      Record<string, { permissions?: Record<string, string>; needs?: string; steps: { run?: string }[] }>
    >;
  };
  t.same(permissions, { contents: 'read' });
  t.equal(jobs.package!.permissions, undefined, 'what builds can publish nothing');
  t.match(jobs.publish, { needs: 'package', permissions: { 'id-token': 'write' } });
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  for (const [path] of commands.join('\n').matchAll(/\b(?:scripts|test)\/[\w./-]+\.ts\b/g))
    t.ok(existsSync(join(root, path)), path);
  t.match(readFileSync(join(root, 'Makefile'), 'utf8'), /^package: /m);
  t.end();
});
