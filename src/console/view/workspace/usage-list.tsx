import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { Facts } from '../parts/facts.tsx';

/** What the workspace has cost and done so far. */
export function UsageList() {
  const { usage } = useStore(session);
  return usage ? <Facts class="usage" fields={SHOWN_FIELDS.usage} record={usage} /> : null;
}
