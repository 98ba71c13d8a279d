import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Preloaded into each test file's process: keeps TypeScript without its types, as Node makes it, from one process to the next. Node's
 * own cache keeps what it compiled, and strips five hundred modules again each time. No TypeScript itself: it would be stripped first.
 */
const FOLDER = resolve(import.meta.dirname, '../../.build/stripped');
mkdirSync(FOLDER, { recursive: true });

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
    return { format: 'module', source: strippedOf(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true };
  },
});

/** @param {string} source */
function strippedOf(source) {
  const kept = join(FOLDER, createHash('sha1').update(`${process.version} ${source}`).digest('hex'));
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const stripped = stripTypeScriptTypes(source);
    // Another process may write the same.
    const own = `${kept}.${process.pid}`;
    writeFileSync(own, stripped);
    renameSync(own, kept);
    return stripped;
  }
}
