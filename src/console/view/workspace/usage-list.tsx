import type { ComponentChildren } from 'preact';
import { counted, formatBytes } from '../../model/figures/format.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';

/** What the workspace has cost and done so far. */
export function UsageList() {
  const { usage } = useStore(session);
  if (!usage) return null;
  const { spend_usd, spend_limit_usd, items, segments, bytes, searches, ingests } = usage;
  return (
    <dl class="usage">
      <Figure name="Paid" value={`${spend_usd} USD`} beside={spend_limit_usd && `of ${spend_limit_usd}`} />
      <Figure name="Searches" value={searches} />
      <Figure name="Uploads" value={ingests} />
      <Figure name="Contents" value={counted(items, 'item')} beside={formatBytes(bytes)} />
      <Figure
        name="Segments"
        what="Pieces that are found by themselves: passages, pages, pictures"
        value={segments}
      />
    </dl>
  );
}

function Figure({
  name,
  what,
  value,
  beside,
}: {
  name: string;
  /** Explains the name. */
  what?: string;
  value: ComponentChildren;
  beside?: ComponentChildren;
}) {
  return (
    <div>
      <dt title={what}>{name}</dt>
      <dd>
        {value} {beside && <span class="quiet">{beside}</span>}
      </dd>
    </div>
  );
}
