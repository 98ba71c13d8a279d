/**
 * Puts the compiled native part where src/native loads it, with its declarations and napi-rs's loader.
 * `node scripts/build-addon.ts TARGET`, the target that cargo built for; called by `make`.
 */
import { copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateTypeDef, parseTriple, readNapiConfig, writeJsBinding } from '@napi-rs/cli';
import { readWords } from './words.ts';

const usage = {
  command: 'build-addon.ts TARGET',
  does: 'Puts what cargo built for TARGET (rustc -vV names the host) where the server loads it.',
};
const [target] = readWords({ ...usage, least: 1, most: 1 }).words as [string];
const root = resolve(import.meta.dirname, '..');
const outputDir = join(root, 'src/native/addon');
const typeDefDir = join(root, 'native/target/napi-rs/types');
const { binaryName, packageName, packageJson } = await readNapiConfig(join(root, 'package.json'));

mkdirSync(outputDir, { recursive: true });
const built = join(
  process.env.CARGO_TARGET_DIR ?? join(root, 'native/target'),
  target,
  'release/libfarthing_napi.so',
);
const addon = join(outputDir, `${binaryName}.${parseTriple(target).platformArchABI}.node`);
// A server that runs keeps the file that it has open.
copyFileSync(built, `${addon}.new`);
renameSync(`${addon}.new`, addon);

const { dts, exports } = await generateTypeDef({ typeDefDir, cwd: root, declareBindingTarget: true });
if (exports.length === 0)
  throw new Error(`${typeDefDir} is empty: touch native/napi/src/lib.rs, and make again`);
writeFileSync(join(outputDir, 'addon.d.ts'), dts);
await writeJsBinding({
  platform: true,
  jsBinding: 'addon.cjs',
  idents: exports,
  binaryName,
  packageName,
  version: packageJson.version,
  outputDir,
});
