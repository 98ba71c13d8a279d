import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 2 ** 26;

/** The newest clients of x402 v2 and of v1: apart, since they want different viems. */
export const V2_PACKAGES = ['@x402/fetch', '@x402/axios', '@x402/evm', 'axios', 'viem'];
export const V1_PACKAGES = ['x402-fetch', 'x402-axios', 'axios', 'viem'];

/** Installs packages into an empty folder, as an agent does that has never seen this tree. @returns the folder */
export async function installPackages(folder: string, packages: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...packages];
  await run('npm', words, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  return folder;
}

/** The published client for Python in an environment of its own. @returns its python */
export async function installPython(folder: string): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '-q', 'x402[requests,httpx,evm]']);
  return join(folder, 'bin/python3');
}
