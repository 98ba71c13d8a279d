/**
 * What ReaderProcess starts: closes what came along from the server, forbids io_uring, which must come before Node's event
 * loop exists, and becomes the program that reads.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { native } from '../native/index.ts';
import { PIPE } from './process/frames.ts';

const CLOSED_ON_EXEC = 0o2000000;

/**
 * LMDB opens its data files without O_CLOEXEC: a child would hold the indexes of all Tenants that are open, and the
 * server's state, and what is unlinked would live on in it. Node's own descriptors all have the flag.
 */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const descriptor = Number(name);
    if (descriptor <= PIPE || isClosedOnExec(name)) continue;
    closeSync(descriptor);
  }
}

/** The directory's own descriptor is listed and gone by now. */
function isClosedOnExec(name: string): boolean {
  try {
    const [, flags = '0'] =
      /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    return true;
  }
}

closeInherited();
const failure = native.forbidRings(PIPE);
// A kernel without this filter has none for the reader either, which reports that.
if (failure !== '') process.stderr.write(`${failure}\n`);
const program = fileURLToPath(new URL('./child.ts', import.meta.url));
if (!process.execve) throw new Error('this Node cannot execute a program');
process.execve(process.execPath, [process.execPath, ...process.execArgv, program], {});
