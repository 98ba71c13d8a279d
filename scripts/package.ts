/**
 * Makes the packages that work outside the tree: `farthing`, and beside it the native part for this platform as its optional package,
 * as napi-rs does. `node scripts/package.ts [FOLDER]`; called by `make package`.
 *
 * `npm pack` alone makes one package that holds the native part of this platform itself.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { origin, pack, ROOT, readManifest, writeManifest } from './packing.ts';

/** Of the one that napi-rs's loader asks for; a package of another platform has its own name. */
const PLATFORM = { name: 'linux-x64-gnu', os: ['linux'], cpu: ['x64'], libc: ['glibc'] } as const;
const NOTICES = 'THIRD-PARTY-NOTICES.txt';
const RUNTIME = 'onnxruntime-node';
const RUNTIME_SHARED = 'onnxruntime-common';

const target = resolve(process.argv[2] ?? join(ROOT, '.build/packages'));
const stage = mkdtempSync(join(tmpdir(), 'farthing-package-'));
const manifest = readManifest(ROOT);
const addon = `farthing.${PLATFORM.name}.node`;

try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  execFileSync(process.execPath, ['--no-warnings', join(ROOT, 'scripts/notices.ts')]);
  const whole = join(stage, pack(ROOT, stage));
  execFileSync('tar', ['-xzf', whole, '-C', stage]);
  rmSync(whole);
  console.log(pack(platformPackage(), target));
  console.log(pack(mainPackage(), target));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** The native part alone. */
function platformPackage(): string {
  const folder = join(stage, PLATFORM.name);
  mkdirSync(folder);
  renameSync(join(stage, 'package/src/native/addon', addon), join(folder, addon));
  cpSync(join(stage, 'package', NOTICES), join(folder, NOTICES));
  const { version, license } = manifest;
  const { name: platform, ...fits } = PLATFORM;
  writeManifest(folder, {
    name: `farthing-${platform}`,
    version,
    description: `The native part of farthing for ${platform}.`,
    license,
    ...origin(),
    main: addon,
    files: [addon, NOTICES],
    ...fits,
  });
  return folder;
}

/** All else. ONNX Runtime comes inside: its own installer would fetch GPU libraries, and fail without a network. */
function mainPackage(): string {
  const folder = join(stage, 'package');
  const { scripts: _, devDependencies: __, private: ___, napi: ____, ...kept } = manifest;
  const runtime = bundledRuntime(folder);
  writeManifest(folder, {
    ...kept,
    ...origin(),
    os: PLATFORM.os,
    cpu: PLATFORM.cpu,
    libc: PLATFORM.libc,
    dependencies: { ...manifest.dependencies, ...runtime },
    optionalDependencies: { [`farthing-${PLATFORM.name}`]: manifest.version },
    bundleDependencies: Object.keys(runtime),
  });
  return folder;
}

/** Copies ONNX Runtime with its binaries for this platform, without its installer. @returns its packages and their versions */
function bundledRuntime(folder: string): Record<string, string> {
  const from = join(ROOT, 'node_modules', RUNTIME);
  const to = join(folder, 'node_modules', RUNTIME);
  for (const part of ['dist', 'bin/napi-v6/linux/x64', 'README.md'])
    cpSync(join(from, part), join(to, part), {
      recursive: true,
      // What `make gpu` laid out is this machine's.
      filter: (path) => !/providers_(cuda|tensorrt)/.test(path),
    });
  const { name, version, license, main, types } = readManifest(from);
  const shared = readManifest(join(ROOT, 'node_modules', RUNTIME_SHARED)).version;
  writeManifest(to, { name, version, license, main, types, dependencies: { [RUNTIME_SHARED]: shared } });
  cpSync(join(ROOT, 'node_modules', RUNTIME_SHARED), join(folder, 'node_modules', RUNTIME_SHARED), {
    recursive: true,
  });
  return { [RUNTIME]: version, [RUNTIME_SHARED]: shared };
}
