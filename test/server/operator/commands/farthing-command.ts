import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtServer } from '../../../../scripts/built-server.ts';
import { BARE_ENVIRONMENT } from '../../../rig/environment.ts';

// The launcher runs what was built.
builtServer();
const LAUNCHER = resolve(import.meta.dirname, '../../../../src/bin/farthing.js');

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `farthing admin WORDS…` as an operator runs it, over a data folder. */
export async function farthing(data: string, words: readonly string[], input = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [LAUNCHER, 'admin', ...words], {
    env: { ...BARE_ENVIRONMENT, FARTHING_DATA_DIR: data },
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
}
