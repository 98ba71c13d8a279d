/**
 * What ReaderProcess starts: forbids io_uring, which must come before Node's event loop exists, and becomes the program
 * that reads.
 */
import { fileURLToPath } from 'node:url';
import { native } from '../native/index.ts';
import { PIPE } from './frames.ts';

const failure = native.forbidRings(PIPE);
// A kernel without this filter has none for the reader either, which reports that.
if (failure !== '') process.stderr.write(`${failure}\n`);
const program = fileURLToPath(new URL('./child.ts', import.meta.url));
if (!process.execve) throw new Error('this Node cannot execute a program');
process.execve(process.execPath, [process.execPath, ...process.execArgv, program], {});
