#!/usr/bin/env node
// Runs the command under the pinned Node 22, whatever version started this file: it reads TypeScript as it is.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Commands that need a server's address alone; the others are the operator's. */
const AGENT = ['search', 'ingest', 'workspace', 'wallet', 'mcp', 'sign', 'completion'];

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const script = AGENT.includes(process.argv[2]) ? './agent.ts' : './operator.ts';
// The fourth stream says nothing: by its end the child knows that this process is gone.
const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
const child = spawn(at('../../node_modules/.bin/node'), [at(script), ...process.argv.slice(2)], { stdio });
child.channel?.unref();
// A terminal sends its interrupt to both; what is sent to this process alone is passed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(`Farthing is not set up here (${error.message}): run "make setup" first.`);
  process.exitCode = 1;
});
child.on('exit', (status) => {
  process.exitCode = status ?? 1;
});
