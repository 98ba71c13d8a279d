import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { Facts } from '../parts/facts.tsx';

/** Cost and activity of the workspace so far. */
export function UsageList() {
  const { usage } = useStore(session);
  return usage ? <Facts class="usage" fields={SHOWN_FIELDS.usage} record={usage} /> : null;
}
