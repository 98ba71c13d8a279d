import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { onlyDeep } from '../rig/deep.ts';
import { BARE_ENVIRONMENT } from '../rig/environment.ts';
import { listening } from '../rig/ports.ts';
import { outputOf, runProgram } from '../rig/run-program.ts';
import { temporaryFolder } from '../rig/temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
/** Their version is their own. */
const MODELS = JSON.parse(readFileSync(join(root, 'models/package.json'), 'utf8')) as {
  readonly name: string;
  readonly version: string;
};
const MAIN = {
  name: 'farthing',
  dependencies: { [MODELS.name]: MODELS.version },
  optionalDependencies: { 'farthing-linux-x64-gnu': version },
};

t.setTimeout(300_000);

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
    response.end(
      JSON.stringify(found ? { ...found, 'dist-tags': { latest: Object.keys(found.versions)[0] } } : {}),
    );
  });
  const { port } = await listening(t, server);
  return { host: `127.0.0.1:${port}`, taken };
}

/** Packages as `make package` leaves them: the true client, and manifests alone of the others. */
async function makePackages(made: string): Promise<void> {
  mkdirSync(join(made, 'packages'));
  await outputOf(process.execPath, [
    '--no-warnings',
    join(root, 'scripts/package-client.ts'),
    join(made, 'packages/client'),
  ]);
  for (const manifest of [MAIN, { name: 'farthing-linux-x64-gnu' }, MODELS])
    await packInto(join(made, 'packages'), join(made, manifest.name), manifest);
}

/** A package of a manifest and what is already in its folder. */
async function packInto(into: string, source: string, manifest: object): Promise<void> {
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), JSON.stringify({ version, ...manifest }));
  await outputOf('npm', ['pack', '--pack-destination', into], { cwd: source });
}

async function rig(t: Pick<Test, 'teardown'>) {
  const folder = temporaryFolder(t);
  const registry = await startRegistry(t);
  await makePackages(folder);
  const packages = join(folder, 'packages');
  writeFileSync(
    join(folder, '.npmrc'),
    `registry=http://${registry.host}/\n//${registry.host}/:_authToken=a\n`,
  );
  const release = (words: readonly string[] = [], more: Record<string, string> = {}) =>
    runProgram(process.execPath, ['--no-warnings', join(root, 'scripts/release.ts'), ...words, packages], {
      cwd: folder,
      env: { ...BARE_ENVIRONMENT, PATH: process.env.PATH, HOME: folder, ...more },
    });
  return { folder, packages, release, names: () => registry.taken.map(({ name }) => name) };
}

t.test('a release is tried, made in order, and made once', { skip: onlyDeep }, async (t) => {
  const { folder, packages, release, names } = await rig(t);
  const tried = await release(['--dry-run']);
  t.equal(tried.status, 0, tried.output);
  t.same(names(), [], 'a trial publishes nothing');

  const made = await release();
  t.equal(made.status, 0, made.output);
  const all = ['farthing', 'farthing-client', 'farthing-linux-x64-gnu', 'farthing-models'];
  t.same(names().toSorted(), all);
  for (const asked of ['farthing-linux-x64-gnu', 'farthing-models'])
    t.ok(names().indexOf(asked) < names().indexOf('farthing'), `${asked} comes before what asks for it`);

  writeFileSync(join(folder, MODELS.name, 'README.md'), 'Packed anew, with the same models.');
  await packInto(packages, join(folder, MODELS.name), MODELS);
  const again = await release();
  t.equal(again.status, 0, again.output);
  t.equal(names().length, all.length, 'what is there is left out');

  await packInto(packages, join(folder, MODELS.name), { ...MODELS, contents: 'others' });
  t.match(await release(), { status: 1, output: /another farthing-models@\S+ is published/ });
  t.equal(names().length, all.length);
});

t.test('another version than the tag or the tree names is not published', { skip: onlyDeep }, async (t) => {
  const { folder, packages, release, names } = await rig(t);
  rmSync(join(packages, `farthing-${version}.tgz`));
  await packInto(packages, join(folder, MAIN.name), { ...MAIN, version: '9.9.9' });
  const tagged = await release([], { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v9.9.9' });
  t.match(tagged, { status: 1, output: /the tag is v9\.9\.9/ });
  t.match(await release(), { status: 1, output: /9\.9\.9\.tgz is 9\.9\.9, and package\.json says/ });
  t.same(names(), []);
});
