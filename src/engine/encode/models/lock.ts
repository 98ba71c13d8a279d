import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FarthingError } from '@farthing/protocol/error';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { RolesSchema } from './manifest.ts';

const NAME = 'lock.json';

const LockSchema = Type.Object(
  {
    version: Type.Literal(1),
    /** Models that override the manifest's choice. */
    use: RolesSchema,
    /** By path: what the first pull of a file found, where the manifest says nothing. */
    files: Type.Record(
      Type.String(),
      Type.Object(
        { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }), bytes: Type.Integer({ minimum: 1 }) },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

/** `lock.json` beside the manifest: what this installation chose and learned. The manifest stays as published. */
export type Lock = Static<typeof LockSchema>;

/** Reads the lock; an absent file is an empty one. @throws FarthingError `models_invalid` if damaged: it may have held hashes */
export async function readLock(folder: string): Promise<Lock> {
  const path = join(folder, NAME);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { version: 1, use: {}, files: {} };
    throw new FarthingError('models_invalid', `${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const wrong = Value.Errors(LockSchema, value).First();
  if (wrong) throw new FarthingError('models_invalid', `${path}${wrong.path}: ${wrong.message}`);
  return value as Lock;
}

/** Replaces the lock atomically: readers see the old or the new one. */
export async function changeLock(folder: string, change: (lock: Lock) => Lock): Promise<void> {
  const path = join(folder, NAME);
  const written = `${path}.${randomUUID()}.new`;
  await writeFile(written, `${JSON.stringify(change(await readLock(folder)), null, 2)}\n`);
  await rename(written, path);
}
