import type { Hit } from '@farthing/client';
import { foundItems, kindCounts } from '../../model/search/results.ts';
import { filterBy } from '../../model/search/search.ts';
import { type Filter, KINDS } from '../../model/state/asked.ts';

/** Narrows the hits to a kind or a file; absent where there is nothing to choose. */
export function Filters({ hits, filter }: { hits: readonly Hit[]; filter: Filter }) {
  const kinds = kindCounts(hits);
  const items = foundItems(hits);
  if (kinds.length < 2 && items.length < 2) return null;
  return (
    <fieldset class="filters">
      <legend class="unseen">Show only</legend>
      {kinds.length > 1 &&
        kinds.map(({ kind, count }) => (
          <button
            type="button"
            key={kind}
            class="chip-button"
            aria-pressed={filter.kind === kind}
            onClick={() => filterBy({ kind: filter.kind === kind ? undefined : kind })}
          >
            {KINDS[kind]} <span class="count">{count}</span>
          </button>
        ))}
      {items.length > 1 && (
        <label>
          <span class="unseen">File</span>
          <select
            value={filter.item ?? ''}
            onChange={({ currentTarget }) => filterBy({ item: currentTarget.value || undefined })}
          >
            <option value="">All {items.length} files</option>
            {items.map(({ id, name, count }) => (
              <option key={id} value={id}>
                {name} ({count})
              </option>
            ))}
          </select>
        </label>
      )}
    </fieldset>
  );
}
