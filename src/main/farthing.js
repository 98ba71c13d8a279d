#!/usr/bin/env node
// Runs the command under the pinned Node 22, whatever version started this file: it reads TypeScript as it is.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const { status, error } = spawnSync(
  at('../../node_modules/.bin/node'),
  [at('./cli.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
if (error) console.error(`Farthing is not set up here (${error.message}): run "make setup" first.`);
process.exit(status ?? 1);
