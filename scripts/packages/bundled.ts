import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Metafile } from 'esbuild';

/** Where builds note which packages' code went into them; `scripts/notices.ts` reads it. */
export const BUNDLED = resolve(import.meta.dirname, '../../.build/bundled');

/** Notes the folders of the packages whose code is part of a build. @param name of the build */
export function noteBundled(name: string, { inputs }: Metafile): void {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  mkdirSync(BUNDLED, { recursive: true });
  writeFileSync(join(BUNDLED, `${name}.json`), JSON.stringify([...new Set(folders)].sort()));
}
