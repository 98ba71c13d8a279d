import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 2 ** 26;

export interface Client {
  readonly name: string;
  readonly program: string;
  readonly command: string;
}

interface Kind {
  readonly names: readonly string[];
  /** @returns how five purchases of it are begun: CLIENT URL NETWORK KEY follow */
  readonly install: (folder: string) => Promise<Omit<Client, 'name'>>;
}

/** The newest clients of x402 v2 and of v1, apart, since they want different viems; and those for Python. */
export const KINDS = {
  v2: {
    names: ['@x402/fetch', '@x402/axios'],
    install: node('@x402/fetch', '@x402/axios', '@x402/evm', 'axios', 'viem'),
  },
  v1: { names: ['x402-fetch', 'x402-axios'], install: node('x402-fetch', 'x402-axios', 'axios', 'viem') },
  python: {
    names: ['x402 over requests', 'x402 over httpx'],
    install: async (folder) => ({
      command: await installPython(folder),
      program: join(import.meta.dirname, 'five_purchases.py'),
    }),
  },
} as const satisfies Readonly<Record<string, Kind>>;

function node(...packages: readonly string[]): Kind['install'] {
  return async (folder) => {
    const program = join(await installPackages(folder, packages), 'five-purchases.mjs');
    await copyFile(join(import.meta.dirname, 'five-purchases.mjs'), program);
    return { program, command: process.execPath };
  };
}

/** Installs packages into an empty folder, as an agent does that has never seen this tree. @returns the folder */
async function installPackages(folder: string, packages: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...packages];
  await run('npm', words, { cwd: folder, maxBuffer: OUTPUT_BYTES_MAX });
  return folder;
}

/** The published client for Python in an environment of its own. @returns its python */
async function installPython(folder: string): Promise<string> {
  await run('python3', ['-m', 'venv', folder]);
  await run(join(folder, 'bin/pip'), ['install', '-q', 'x402[requests,httpx,evm]']);
  return join(folder, 'bin/python3');
}
