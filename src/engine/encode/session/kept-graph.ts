import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { native } from '@farthing/native';
import * as ort from 'onnxruntime-node';
import type { Candidate } from '../models/tower.ts';

/**
 * Opens a model from its kept graph, or optimises the model and keeps the graph. Both give the same numbers, because the graph
 * is the same (ONNX Runtime, "Graph Optimizations", offline mode). An unreadable kept graph is replaced.
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

/** Keeps no graph where it cannot be written: a full disk must not stop a model. */
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

/** Removes graphs of the same weights by other runtimes or processors. If workers optimise at once, the last graph stays. */
async function removeOthers(folder: string, sha256: string, kept: string): Promise<void> {
  const others = (await readdir(folder)).filter(
    (name) => name.startsWith(sha256) && name.endsWith('.onnx') && join(folder, name) !== kept,
  );
  await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
}

/** The name covers all that a graph depends on: weights, options, runtime, and the processor, whose vector width decides the layout of weights. */
function nameOf({ sha256, sessionOptions = {} }: Candidate): string {
  const made = [ort.env.versions, arch(), native.kernelName(), sessionOptions];
  return `${sha256}-${createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)}.onnx`;
}
