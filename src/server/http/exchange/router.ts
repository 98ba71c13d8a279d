import { FarthingError } from '@farthing/protocol/error';

/** A path with named parameters: `/agent/v1/items/{item_id}`. */
export interface RoutePattern {
  readonly method: string;
  readonly path: string;
  /** Requests with other methods get 404 instead of 405. */
  readonly isHidden?: true;
}

export interface RouteMatch<R> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a request. Paths are compared by their segments; one more slash at the end is the same path. */
export class Router<R extends RoutePattern> {
  readonly #bySegmentCount = new Map<number, { segments: string[]; route: R }[]>();

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      const segments = route.path.split('/');
      const same = this.#bySegmentCount.get(segments.length) ?? [];
      same.push({ segments, route });
      this.#bySegmentCount.set(segments.length, same);
    }
  }

  /** @throws not_found for an unknown path, method_not_allowed (with `allow`) for a known one. */
  find(method: string, path: string): RouteMatch<R> {
    const segments = path.split('/');
    const allow = new Set<string>();
    let found = this.#among(segments, method, allow);
    if (!found && allow.size === 0 && segments.at(-1) === '')
      found = this.#among(segments.slice(0, -1), method, allow);
    if (found) return found;
    if (allow.size === 0) throw new FarthingError('not_found', 'No such path. /openapi.json lists them all.');
    throw new FarthingError('method_not_allowed', `Use ${[...allow].join(' or ')} here.`, {
      facts: { allow: [...allow, 'OPTIONS'] },
    });
  }

  /** @param allow gets the methods that the path has */
  #among(segments: readonly string[], method: string, allow: Set<string>): RouteMatch<R> | undefined {
    for (const candidate of this.#bySegmentCount.get(segments.length) ?? []) {
      const params = match(candidate.segments, segments);
      if (!params) continue;
      if (candidate.route.method === method || (method === 'HEAD' && candidate.route.method === 'GET')) {
        return { route: candidate.route, params };
      }
      if (candidate.route.isHidden) continue;
      allow.add(candidate.route.method);
      if (candidate.route.method === 'GET') allow.add('HEAD');
    }
    return undefined;
  }
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index]!;
    if (part.startsWith('{')) {
      if (segment.length === 0) return undefined;
      params[part.slice(1, -1)] = segment;
    } else if (part !== segment) {
      return undefined;
    }
  }
  return params;
}
