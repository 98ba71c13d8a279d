import type { ComponentChildren } from 'preact';
import { formatBytes } from '../../model/format.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';

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
      <Figure name="Contents" value={`${items} items`} beside={formatBytes(bytes)} />
      <Figure name="Segments" value={segments} />
    </dl>
  );
}

function Figure({
  name,
  value,
  beside,
}: {
  name: string;
  value: ComponentChildren;
  beside?: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {beside && <span class="quiet">{beside}</span>}
      </dd>
    </div>
  );
}
