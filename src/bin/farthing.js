#!/usr/bin/env node
// Runs the command under the pinned Node 22, which runs TypeScript, whatever version started this file.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Operator's commands that this release still takes without `admin`. */
const FORMER = ['workspaces', 'receipt', 'keys', 'backup', 'restore', 'ledger', 'models', 'settings', 'doctor'];

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const script = ['admin', ...FORMER].includes(process.argv[2]) ? './operator.ts' : './agent.ts';
// Nothing is sent over the fourth stream; its end tells the child that this process is gone.
const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
const child = spawn(at('../../node_modules/.bin/node'), [at(script), ...process.argv.slice(2)], { stdio });
child.channel?.unref();
// A terminal interrupts both processes; a signal to this one alone is passed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(`Farthing is not set up here (${error.message}): run "make setup" first.`);
  process.exitCode = 1;
});
child.on('exit', (status) => {
  process.exitCode = status ?? 1;
});
