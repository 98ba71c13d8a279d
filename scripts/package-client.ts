/**
 * Makes `farthing-client`, the built client without the server, for agents. It needs `dist` alone: no Rust.
 * `node scripts/package-client.ts [FOLDER]`; called by `make package`.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { origin, pack, ROOT, readManifest, writeManifest } from './packing.ts';

const target = resolve(process.argv[2] ?? join(ROOT, '.build/packages/client'));
const stage = mkdtempSync(join(tmpdir(), 'farthing-client-'));
const { version, license, engines, exports, dependencies } = readManifest(ROOT);

try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  cpSync(join(ROOT, 'dist'), join(stage, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'clients/typescript/README.md'), join(stage, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'));
  writeManifest(stage, {
    name: 'farthing-client',
    version,
    description:
      'Search files on a Farthing server and pay for it by the call (x402), or rent a private index by the minute.',
    license,
    ...origin(),
    keywords: ['x402', 'search', 'agents', 'usdc', 'retrieval'],
    type: 'module',
    sideEffects: false,
    engines,
    exports: { '.': (exports as Record<string, object>)['./client'] },
    files: ['dist'],
    dependencies: Object.fromEntries([...imported(stage)].toSorted().map((name) => [name, versionOf(name)])),
  });
  console.log(pack(stage, target));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Packages that the client's files ask for; Node's own parts it loads only where there is a Node. */
function imported(folder: string): Set<string> {
  const names = new Set<string>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.[jt]s$/.test(path)) continue;
    const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, path), 'utf8'), true, true);
    for (const { fileName } of importedFiles)
      if (!/^(?:\.|node:)/.test(fileName)) names.add(/^(?:@[^/]+\/)?[^/]+/.exec(fileName)![0]);
  }
  return names;
}

function versionOf(name: string): string {
  const version = dependencies[name];
  if (version === undefined) throw new Error(`the client asks for ${name}, which package.json does not name`);
  return version;
}
