import type { Manifest } from '../models/manifest.ts';
import type { Failure, Missing, TextTower, Tower, Towers } from '../models/tower.ts';

export interface AvailableTowers {
  readonly towers: Towers;
  readonly missing: readonly Missing[];
}

/** Models whose queries another JavaScript thread may encode, as they are sent to it. */
export interface SharedModels extends AvailableTowers {
  readonly manifest: Manifest;
  /** Name of the queue of queries, which all threads have. */
  readonly queue: string;
  /** Files of the tokenizers whose words are spelt right. */
  readonly tokenizers: readonly string[];
  /** The model of pictures' labels, where another one helps with queries in other languages. */
  readonly translatesInto?: TextTower;
}

/**
 * The towers that serve after some have failed. A tower without a candidate left, or with a failure on all providers, is left
 * out; the queries that it answered are missing, with the reason. A picture model stays when its labels' text model is left
 * out, and text towers stop searching spaces that nothing fills any more.
 */
export function availableTowers(
  towers: Towers,
  missing: readonly Missing[],
  failures: readonly Failure[],
): AvailableTowers {
  const reasons = new Map(towers.map((tower) => [tower, failureOf(tower, failures)]));
  const lost = towers.flatMap((tower) => {
    const reason = reasons.get(tower);
    return reason === undefined ? [] : missingWithout(tower, towers, reason);
  });
  const alive = towers.filter((tower) => reasons.get(tower) === undefined);
  const bridged = alive.map((tower) => {
    if (tower.kind !== 'picture' || !tower.bridge) return tower;
    const { bridge, ...alone } = tower;
    return alive.some(({ kind, model }) => kind === 'text' && model === bridge.textModel) ? tower : alone;
  });
  const filled = new Set(bridged.flatMap(spacesFilledBy));
  const searching = bridged.map((tower) => ({
    ...tower,
    searches: tower.searches.filter((space) => filled.has(space)),
  }));
  return {
    towers: searching.filter(({ searches, fills }) => searches.length > 0 || fills !== undefined),
    missing: [...missing, ...lost],
  };
}

/** Why a tower cannot serve; undefined while it can. */
function failureOf({ model, candidates }: Tower, failures: readonly Failure[]): string | undefined {
  const modelFailures = failures.filter((failure) => failure.model === model);
  if (candidates.length > 0 && modelFailures.every(({ provider }) => provider !== '')) return undefined;
  const reasons = modelFailures.map(({ provider, reason }) => (provider ? `${provider}: ${reason}` : reason));
  return reasons.join('; ') || 'no provider can run it';
}

/** Queries that nothing answers without a tower: its own, and those of the spaces that it fills. */
function missingWithout(tower: Tower, towers: Towers, reason: string): Missing[] {
  const unsearched = tower.searches.map((space) => ({ space, asksWith: tower.kind, reason }));
  const others = spacesFilledBy(tower).flatMap((space) =>
    towers
      .filter((other) => other !== tower && other.searches.includes(space))
      .map(({ kind }) => ({ space, asksWith: kind, reason })),
  );
  return [...unsearched, ...others];
}

function spacesFilledBy(tower: Tower): Tower['searches'] {
  const bridge = tower.kind === 'picture' ? tower.bridge : undefined;
  return [...(tower.fills ? [tower.fills] : []), ...(bridge ? [bridge.space] : [])];
}
