import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Preloaded into each test file's process: keeps TypeScript without its types, as Node makes it, from one process to the next. Node's
 * own cache keeps what it compiled, and strips five hundred modules again each time. No TypeScript itself: it would be stripped first.
 * Processes that read files have an empty environment and keep nothing: they run what was built, where the runner found that as new as its
 * sources (BUILT_READER). From sources each takes two seconds of a processor to start, as much as most tests.
 */
const { BUILT_READER } = process.env;
const READER = "new URL('./reader-bootstrap.ts', import.meta.url)";
const FOLDER = resolve(import.meta.dirname, '../../.build/stripped');
mkdirSync(FOLDER, { recursive: true });

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = strippedOf(readFileSync(fileURLToPath(url), 'utf8'));
    const isStarted = BUILT_READER !== undefined && url.endsWith('/reader-process.ts');
    return {
      format: 'module',
      source: isStarted ? source.replace(READER, JSON.stringify(new URL(`file://${BUILT_READER}`))) : source,
      shortCircuit: true,
    };
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
