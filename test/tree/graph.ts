import { dirname } from 'node:path';

/** What each file, or each folder, uses of the others. */
export type Uses = ReadonlyMap<string, ReadonlySet<string>>;

/** What each folder uses, by the files directly in it. */
export function betweenFolders(uses: Uses): Uses {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of uses) {
    const folder = dirname(file);
    const known = folders.get(folder) ?? new Set();
    folders.set(folder, known);
    for (const target of targets) if (dirname(target) !== folder) known.add(dirname(target));
  }
  return folders;
}

/** Strongly connected components of more than one node (Tarjan, SIAM J. Comput. 1 (1972) 146). */
export function circlesIn(graph: Uses): string[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[] = [];
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    lowest.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) lowest.set(node, Math.min(lowest.get(node)!, visit(next)));
      else if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, order.get(next)!));
    }
    if (lowest.get(node) === own) {
      const component = stack.splice(stack.indexOf(node));
      if (component.length > 1) circles.push(component.sort().join(' ↔ '));
    }
    return lowest.get(node)!;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}
