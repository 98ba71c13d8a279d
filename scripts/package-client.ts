/**
 * Makes `farthing-client`, the built client without the server, for agents. It needs `dist` alone: no Rust.
 * `node scripts/package-client.ts [FOLDER]`; called by `make package`.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOTICES, noticesOf, partsOf } from './packages/licences.ts';
import { origin, pack, ROOT, readManifest, writeManifest } from './packages/packing.ts';
import { readFolder } from './words.ts';

const target = readFolder(
  {
    command: 'package-client.ts [FOLDER]',
    does: 'Makes the package of the client in FOLDER (.build/packages/client), which it empties first.',
  },
  '.build/packages/client',
);
const stage = mkdtempSync(join(tmpdir(), 'farthing-client-'));
const { version, license, engines, exports } = readManifest(ROOT);

try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  cpSync(join(ROOT, 'dist'), join(stage, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'clients/typescript/README.md'), join(stage, 'README.md'));
  cpSync(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'));
  writeFileSync(join(stage, NOTICES), noticesOf(partsOf('client')));
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
    files: ['dist', NOTICES],
  });
  console.log(pack(stage, target));
} finally {
  rmSync(stage, { recursive: true, force: true });
}
