#!/usr/bin/env node
// Runs the command under the pinned Node 22, whatever version started this file: what was built of the sources, which starts in a third of
// the time; in a tree where nothing is built yet, the sources, which that Node runs as they are.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const SERVE_HELP = `farthing serve [--port N] [--host ADDRESS] [--data FOLDER]

Starts a server on http://127.0.0.1:8402, with its data in ./data, on play money.

  --port N         listen on this port (FARTHING_PORT)
  --host ADDRESS   listen on this address (FARTHING_HOST)
  --data FOLDER    keep the data here (FARTHING_DATA_DIR)

All other settings are environment variables or in farthing.json: farthing admin settings`;
/** Options of `serve`, and the settings that they stand for. */
const SERVE_OPTIONS = { port: 'PORT', host: 'HOST', data: 'DATA_DIR' };

/** How often the shell of npm is looked for. */
const SHELL_LOOK_MS = 500;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const isTree = existsSync(at('./agent.ts'));
const [first] = process.argv.slice(2);
const environment = { ...process.env };
const child = spawn(pinnedNode(), argumentsOf(process.argv.slice(2)), {
  env: environment,
  // Nothing is sent over the fourth stream; its end tells the child that this process is gone.
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});
child.channel?.unref();
// A terminal interrupts the child too, which takes both for one.
let isSignalled = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isSignalled = true;
    child.kill(signal);
  });
if (process.env.npm_lifecycle_event) endWithShell();
child.on('error', (error) => {
  const remedy = isTree ? 'run "make setup" first' : 'install the package again, with its install scripts';
  console.error(`Farthing is not set up here (${error.message}): ${remedy}.`);
  process.exitCode = 1;
});
child.on('exit', (status) => {
  process.exitCode = status ?? 1;
});

/** npm passes a signal to the shell that it started this process with. Where that shell ends of it, the child is told. */
function endWithShell() {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    if (!isSignalled) child.kill('SIGTERM');
  }, SHELL_LOOK_MS);
  watch.unref();
}

/** The Node of the package `node`, or of the one for a platform that `node` would bring, wherever it was installed. */
function pinnedNode() {
  const require = createRequire(import.meta.url);
  for (const name of ['node', `node-${process.platform}-${process.arch}`]) {
    try {
      return join(dirname(require.resolve(`${name}/package.json`)), 'bin/node');
    } catch {
      // It is not installed under this name.
    }
  }
  return process.execPath;
}

function argumentsOf(words) {
  const built = (name) => at(`../../.build/server/${name}.js`);
  if (first === 'serve') {
    serveOptions(words.slice(1));
    if (!existsSync(built('main'))) {
      console.error('The server is not built: run "make setup" first.');
      process.exit(1);
    }
    return [built('main')];
  }
  const [program, rest] = first === 'admin' ? ['operator', words.slice(1)] : ['agent', words];
  return [existsSync(built(program)) ? built(program) : at(`./${program}.ts`), ...rest];
}

/** Options win over the environment. What is no option is told, with the help. */
function serveOptions(words) {
  const string = { type: 'string' };
  const options = { port: string, host: string, data: string, help: { type: 'boolean', short: 'h' } };
  try {
    const { values } = parseArgs({ args: words, options });
    if (values.help) {
      console.log(SERVE_HELP);
      process.exit(0);
    }
    for (const [option, setting] of Object.entries(SERVE_OPTIONS)) {
      if (values[option] !== undefined) environment[`FARTHING_${setting}`] = values[option];
    }
  } catch (error) {
    // Node adds how to write what begins with a dash.
    console.error(`${error.message.split('. ', 1)[0]}.\n\n${SERVE_HELP}`);
    process.exit(2);
  }
}
