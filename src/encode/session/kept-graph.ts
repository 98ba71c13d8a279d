import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { native } from '../../native/index.ts';
import type { Candidate } from '../models/tower.ts';

/**
 * Opens a model by its kept graph, or optimises it and keeps the graph. The numbers are the same: it is the same graph
 * (ONNX Runtime, "Graph Optimizations", offline mode). A kept graph that cannot be read is made anew.
 */
export async function createSession(
  candidate: Candidate,
  options: ort.InferenceSession.SessionOptions,
): Promise<ort.InferenceSession> {
  const { graphsFolder, path } = candidate;
  if (graphsFolder === undefined) return ort.InferenceSession.create(path, options);
  const kept = join(graphsFolder, nameOf(candidate));
  if (existsSync(kept)) {
    const opened = await ort.InferenceSession.create(kept, {
      ...options,
      graphOptimizationLevel: 'disabled',
    }).catch(() => undefined);
    if (opened) return opened;
  }
  return optimised(candidate, options, kept);
}

/** Without the file where it cannot be written: a full disk must not keep a model from its work. */
async function optimised(
  { path, sha256, graphsFolder }: Candidate,
  options: ort.InferenceSession.SessionOptions,
  kept: string,
): Promise<ort.InferenceSession> {
  const written = `${kept}.${randomUUID()}.new`;
  try {
    await mkdir(graphsFolder!, { recursive: true });
    const session = await ort.InferenceSession.create(path, { ...options, optimizedModelFilePath: written });
    await rename(written, kept);
    await removeOthers(graphsFolder!, sha256, kept);
    return session;
  } catch {
    await rm(written, { force: true }).catch(() => undefined);
    return ort.InferenceSession.create(path, options);
  }
}

/** Those of the same weights that another runtime or processor has left. Of workers that optimise at once, the last one's stays. */
async function removeOthers(folder: string, sha256: string, kept: string): Promise<void> {
  const others = (await readdir(folder)).filter(
    (name) => name.startsWith(sha256) && name.endsWith('.onnx') && join(folder, name) !== kept,
  );
  await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
}

/** An optimised graph serves the same weights, options, runtime and kind of processor alone: its vectors' width decides how weights are laid out. */
function nameOf({ sha256, sessionOptions = {} }: Candidate): string {
  const made = [ort.env.versions, arch(), native.kernelName(), sessionOptions];
  return `${sha256}-${createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)}.onnx`;
}
