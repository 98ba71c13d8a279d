import { createHash } from 'node:crypto';
import { native } from '@farthing/native';
import type { ProviderChoice } from './device.ts';
import type { Candidate, TextTower, Tower, Towers } from './tower.ts';

/** Most queries of one task: a thread takes what waits, packed. Costs are tokens. */
const QUERY_TASK = { rows: 16, tokens: 128 };

/** Identity of vectors that the native encoder makes with a file of weights: they differ from ONNX Runtime's. */
export function nativeSha256(sha256: string): string {
  return createHash('sha256').update(`${native.encoderArithmetic()} ${sha256}`).digest('hex');
}

/** The native encoder's candidate for weights of the processor. */
export function nativeCandidate(candidate: Candidate): Candidate {
  const { path, sha256, graph } = candidate;
  return {
    provider: 'native',
    path,
    sha256: nativeSha256(sha256),
    queryRows: QUERY_TASK.rows,
    ingestRows: 1,
    runTokens: QUERY_TASK.tokens,
    paddingShare: 1,
    ...(graph ? { graph } : {}),
  };
}

/**
 * The towers with the native encoder's candidates. `auto`: before those of ONNX Runtime on the processor, which is left the
 * models that the native encoder cannot run; `native`: instead of them; any other choice: none.
 */
export function withNative(towers: Towers, choice: ProviderChoice): Towers {
  if (choice !== 'auto' && choice !== 'native') return towers;
  return towers.map((tower) =>
    takesNative(tower)
      ? {
          ...tower,
          candidates: tower.candidates.flatMap((candidate) => {
            if (candidate.provider !== 'cpu') return [candidate];
            return [nativeCandidate(candidate), ...(choice === 'auto' ? [candidate] : [])];
          }),
        }
      : tower,
  );
}

/** The native encoder gives vectors of unit length alone. */
function takesNative(tower: Tower): tower is TextTower {
  return tower.kind === 'text' && tower.settings.normalise;
}
