/**
 * Builds the server's programs (src/bin/main.ts and what it starts) and the commands into .build/server: each package's hundreds of small files
 * and our own, stripped of their types, become a few that Node reads at once. `npx node scripts/build-server.ts`; called by
 * `make server`. A build is a quicker start and nothing else: the same programs run from their sources.
 */
import { readFile, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { noteBundled } from './packages/bundled.ts';
import { computed } from './packages/computed.ts';
import { readWords } from './words.ts';

readWords({ command: 'build-server.ts', does: 'Builds the server’s programs into .build/server.' });

const root = resolve(import.meta.dirname, '..');
const sources = join(root, 'src');
const target = join(root, '.build/server');

/** What Node runs by itself: the server, its worker threads, the processes that read strangers' files, and the commands. */
const PROGRAMS = [
  'bin/main',
  'engine/encode/workers/worker',
  'engine/encode/speech/voice-thread',
  'payment/facilitator/exchange-thread',
  'server/fronts/front',
  'readers/process/reader-bootstrap',
  'readers/process/reader-main',
  'bin/agent',
  'bin/operator',
];

/** They load native parts, WebAssembly, data or threads from files beside their own. */
const KEPT_APART = [
  '@hyzyla/pdfium',
  'libheif-js',
  'lmdb',
  'node-av',
  'onnxruntime-node',
  'pino',
  'sharp',
  'tesseract.js-core',
  'uWebSockets.js',
];

const programs = new Set(PROGRAMS.map((program) => basename(program)));
const ADDRESS = /new URL\('(?:\.{1,2}\/)+([\w-]+)\.ts', import\.meta\.url\)|import\.meta\.(?:url|dirname)/g;

/** A program's address becomes that of the built one; whatever else lies beside a source stays there. */
const addresses: Plugin = {
  name: 'addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.startsWith(`${sources}/`)) return undefined;
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll(ADDRESS, (address, program?: string) => {
        if (program === undefined) {
          const own = relative(target, path);
          return address.endsWith('url')
            ? `new URL(${JSON.stringify(own)}, import.meta.url).href`
            : `(import.meta.dirname + ${JSON.stringify(`/${dirname(own)}`)})`;
        }
        if (!programs.has(program)) throw new Error(`${path} starts ${program}.ts, which is not built`);
        return `new URL('./${program}.js', import.meta.url)`;
      });
      return { contents, loader: 'ts' };
    });
  },
};

await rm(target, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: PROGRAMS.map((program) => join(sources, `${program}.ts`)),
  outdir: target,
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  external: KEPT_APART,
  plugins: [computed, addresses],
  // Packages in the older form call `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
  },
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
noteBundled('server', metafile);
const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`${Object.keys(metafile.outputs).length} files, ${bytes} bytes`);
