import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const MANIFEST = join(import.meta.dirname, '../native/Cargo.toml');

/** The platform that the native part is compiled for: this one. */
export function cargoTarget(): string {
  const { stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  return /^host: (.*)$/m.exec(stdout ?? '')?.[1] ?? '';
}

/**
 * A command of cargo for the whole native part. The Makefile names its target, and cargo keeps what it builds for a named target
 * apart: without the same name, or for one package of the workspace, every crate would be compiled a second time.
 */
export function cargo(command: string, ...words: readonly string[]): string[] {
  const whole = [
    '--manifest-path',
    MANIFEST,
    '--release',
    '--locked',
    '--target',
    cargoTarget(),
    '--workspace',
  ];
  return ['cargo', command, ...whole, ...words];
}
