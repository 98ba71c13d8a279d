#!/usr/bin/env node
// Runs the command under the pinned Node 22, whatever version started this file: the sources in a tree, which that Node runs as they are;
// in an installed package what was built of them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Operator's commands that this release still takes without `admin`. */
const FORMER = ['workspaces', 'receipt', 'keys', 'backup', 'restore', 'ledger', 'models', 'settings', 'doctor'];

const SERVE_HELP = `farthing serve

Starts a server on http://127.0.0.1:8402, with its data in ./data, on play money. It takes no options:
settings are environment variables (FARTHING_PORT=8403) or farthing.json. All of them: farthing admin settings`;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const isTree = existsSync(at('./agent.ts'));
const [first] = process.argv.slice(2);
const child = spawn(pinnedNode(), argumentsOf(process.argv.slice(2)), {
  // Nothing is sent over the fourth stream; its end tells the child that this process is gone.
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});
child.channel?.unref();
// A terminal interrupts both processes; a signal to this one alone is passed on.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  const remedy = isTree ? 'run "make setup" first' : 'install the package again, with its install scripts';
  console.error(`Farthing is not set up here (${error.message}): ${remedy}.`);
  process.exitCode = 1;
});
child.on('exit', (status) => {
  process.exitCode = status ?? 1;
});

/** The Node of the package `node`, wherever it was installed. */
function pinnedNode() {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('node/package.json')), 'bin/node');
  } catch {
    return process.execPath;
  }
}

function argumentsOf(words) {
  const built = (name) => at(`../../.build/server/${name}.js`);
  if (first === 'serve') {
    if (words.length > 1) {
      const isHelp = words[1] === '--help' || words[1] === '-h';
      (isHelp ? console.log : console.error)(SERVE_HELP);
      process.exit(isHelp ? 0 : 2);
    }
    if (!existsSync(built('main'))) {
      console.error('The server is not built: run "make setup" first.');
      process.exit(1);
    }
    return [built('main')];
  }
  const program = ['admin', ...FORMER].includes(first) ? 'operator' : 'agent';
  return [isTree ? at(`./${program}.ts`) : built(program), ...words];
}
