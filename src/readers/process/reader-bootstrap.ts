/**
 * The first program of a reader process. It closes files inherited from the server, forbids io_uring, which must happen before
 * Node's event loop exists, and is replaced by reader-main.ts.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { native } from '../native.ts';
import { PIPE } from './messages.ts';

const CLOSED_ON_EXEC = 0o2000000;

/**
 * LMDB opens its data files without O_CLOEXEC. A reader process would hold the server's state and every open index, and keep deleted
 * files on the disk. All of Node's descriptors have the flag.
 */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fdinfo')) {
    const descriptor = Number(name);
    if (descriptor <= PIPE || isClosedOnExec(name)) continue;
    closeSync(descriptor);
  }
}

/** True too for a descriptor that is closed by now, as that of the listed directory. */
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
// A kernel without this filter has none for the reader either. The reader reports it.
if (failure !== '') process.stderr.write(`${failure}\n`);
const program = fileURLToPath(new URL('./reader-main.ts', import.meta.url));
if (!process.execve) throw new Error('this Node cannot execute a program');
process.execve(process.execPath, [process.execPath, ...process.execArgv, program], {});
