/**
 * Builds the console (src/console) into .build/console: hashed names, and each file precompressed beside it.
 * `npx node scripts/build-console.ts`; called by `make console`.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { noteBundled } from './packages/bundled.ts';
import { computed } from './packages/computed.ts';
import { readWords } from './words.ts';

readWords({ command: 'build-console.ts', does: 'Builds the console into .build/console.' });

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'src/console');
const target = join(root, '.build/console');

/** Endings of the sample files that the console offers. */
const SAMPLES = ['.pdf', '.png', '.jpg', '.md', '.txt'];

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['main.tsx', 'theme.ts', 'icon.svg', 'style/main.css'].map((name) =>
    join('src/console', name),
  ),
  outdir: '.build/console/assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  // The samples are served as they are; pictures and PDF are not compressed again.
  loader: { '.svg': 'copy', ...Object.fromEntries(SAMPLES.map((ending) => [ending, 'file'])) },
  alias: { 'farthing-samples': join(root, 'samples') },
  assetNames: '[name]-[hash]',
  publicPath: '/assets',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2022', 'chrome115', 'firefox115', 'safari16.4'],
  plugins: [computed],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  define: { 'process.env.NODE_ENV': '"production"' },
});

noteBundled('console', metafile);

/** Addresses of the entries in the page, by the names of their sources. */
const addresses = new Map<string, string>();
for (const [path, { entryPoint, inputs }] of Object.entries(metafile.outputs)) {
  const from = entryPoint ?? Object.keys(inputs)[0];
  if (from !== undefined) addresses.set(basename(from), `/assets/${basename(path)}`);
}

await rm(target, { recursive: true, force: true });
await mkdir(join(target, 'assets'), { recursive: true });
const template = await readFile(join(source, 'index.html'), 'utf8');
await keep(join(target, 'index.html'), Buffer.from(template.replace(/\{\{(.+?)\}\}/g, addressOf)));
for (const { path, contents } of outputFiles) await keep(join(target, 'assets', basename(path)), contents);

async function keep(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(path, bytes);
  if (/\.(pdf|png|jpg)$/.test(path)) return;
  const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  const gz = gzipSync(bytes, { level: 9 });
  await writeFile(`${path}.br`, br);
  await writeFile(`${path}.gz`, gz);
  console.log(`${basename(path)}: ${bytes.length} bytes, ${br.length} as brotli, ${gz.length} as gzip`);
}

function addressOf(_: string, name: string): string {
  const address = addresses.get(name);
  if (address === undefined) throw new Error(`a page names ${name}, which was not built`);
  return address;
}
