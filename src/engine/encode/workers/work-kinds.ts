import type { InputKind, SpaceName } from '@farthing/protocol/family';
import { inputBytes, type Tower, type Towers } from '../models/tower.ts';
import type { Use } from '../session/runner.ts';
import type { BatchBounds } from './batch-queue.ts';
import { TASK_ROWS_MAX } from './protocol.ts';

/** One vector of a worker's row: its length, and the spaces that it belongs to. */
export interface RowPart {
  readonly spaces: readonly SpaceName[];
  readonly dimensions: number;
}

/** Names of kinds of work, as logs, metrics and explanations show them. */
export type WorkName = 'passage_texts' | `${Use}_${InputKind}s` | 'cut';

/** Encoding of one kind of input for one use. Work of one kind shares tasks. */
export interface WorkKind {
  readonly name: WorkName;
  readonly use: Use;
  /** Towers by their index among those that the workers opened; inputs of fixed size have one. */
  readonly towers: readonly number[];
  /** A worker's row: one vector of each tower, and one of its bridge. */
  readonly parts: readonly RowPart[];
  /** Most tokens that a tower takes of a text. */
  readonly tokensMax: number;
  /** Bytes of an input of fixed size; 0 for texts. */
  readonly inputBytes: number;
  /** Limits of one task. */
  readonly bounds: BatchBounds;
}

export interface WorkKinds {
  /** Undefined where no tower does it. */
  of(use: Use, input: InputKind): WorkKind | undefined;
  /** Limits of one task, by the name of its kind of work. */
  boundsOf(name: string): BatchBounds;
}

/**
 * Work that the available towers can do.
 * @param opened the towers that the workers were started with
 */
export function workKindsOf(towers: Towers, opened: Towers): WorkKinds {
  const kinds = new Map<WorkName, WorkKind>();
  for (const input of new Set(towers.map(({ kind }) => kind)))
    for (const use of ['query', 'ingest'] as const) {
      const doing = towers.filter(
        (tower) => tower.kind === input && (use === 'query' ? tower.searches.length > 0 : tower.fills),
      );
      if (doing.length > 0) kinds.set(nameOf(use, input), workKind(use, input, doing, opened));
    }
  return {
    of: (use, input) => kinds.get(nameOf(use, input)),
    boundsOf: (name) => kinds.get(name as WorkName)?.bounds ?? taskBounds(1, 1),
  };
}

function nameOf(use: Use, input: InputKind): WorkName {
  return use === 'ingest' && input === 'text' ? 'passage_texts' : `${use}_${input}s`;
}

function workKind(use: Use, input: InputKind, towers: readonly Tower[], opened: Towers): WorkKind {
  return {
    name: nameOf(use, input),
    use,
    towers: towers.map((tower) => indexIn(opened, tower)),
    parts: towers.flatMap((tower) => partsOf(tower, use)),
    tokensMax: Math.max(1, ...towers.map((tower) => (tower.kind === 'text' ? tower.settings.limit : 1))),
    inputBytes: inputBytes(towers[0]!),
    bounds: input === 'text' ? textBounds(use, towers) : inputBounds(towers[0]!),
  };
}

/** The same tower among those that the workers opened. */
export function indexIn(opened: Towers, { kind, model }: Tower): number {
  return opened.findIndex((tower) => tower.kind === kind && tower.model === model);
}

/** A query's vector serves every space that its tower searches; bridges serve rows of an ingest alone. */
function partsOf(tower: Tower, use: Use): RowPart[] {
  const { dimensions } = tower.settings;
  if (use === 'query') return [{ spaces: tower.searches, dimensions }];
  const bridge = tower.kind === 'picture' ? tower.bridge : undefined;
  return [
    { spaces: [tower.fills!], dimensions },
    ...(bridge ? [{ spaces: [bridge.space], dimensions: bridge.dimensions }] : []),
  ];
}

/**
 * A task of an ingest where a run has one row: many short texts, so that the way to the worker and back costs little, but no
 * more tokens than two long passages, so that work is shared evenly and given up soon.
 */
const INGEST_TASK = { entries: 16, tokens: 512 };

function textBounds(use: Use, towers: readonly Tower[]): BatchBounds {
  const candidates = towers.map((tower) => tower.candidates[0]!);
  const rows = Math.min(
    ...candidates.map(({ queryRows, ingestRows }) => (use === 'query' ? queryRows : ingestRows)),
  );
  const tokens = Math.min(...candidates.map(({ runTokens }) => runTokens));
  return use === 'query' || rows > 1
    ? taskBounds(rows, tokens)
    : taskBounds(INGEST_TASK.entries, INGEST_TASK.tokens);
}

function inputBounds(tower: Tower): BatchBounds {
  const inputs = inputsOfTask(tower);
  return taskBounds(inputs, inputs);
}

/** Inputs of fixed size of one task, at most. */
export function inputsOfTask({ candidates }: Tower): number {
  const rows = candidates.map(({ queryRows, ingestRows }) => Math.max(queryRows, ingestRows));
  return Math.min(TASK_ROWS_MAX, Math.max(1, ...rows));
}

/** Bounds of a task, within what its shared memory holds. */
export function taskBounds(entries: number, size: number): BatchBounds {
  return { entries: Math.min(entries, TASK_ROWS_MAX), size };
}
