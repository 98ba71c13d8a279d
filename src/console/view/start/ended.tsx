import { type OpenWorkspace, session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';
import { dismissEnded, fetchEndedReceipt } from '../../model/workspace/workspace.ts';

/** A workspace whose time is over: its receipt can still be had. */
export function Ended({ ended }: { ended: OpenWorkspace }) {
  const { busy } = useStore(session);
  return (
    <section class="card ended" aria-labelledby="ended-title">
      <h2 id="ended-title">Your workspace’s time is over</h2>
      <p>
        Its data was destroyed. <code>{ended.id.slice(0, 12)}…</code>
      </p>
      <div class="buttons">
        <button type="button" disabled={busy !== undefined} onClick={() => void fetchEndedReceipt()}>
          Get its receipt
        </button>
        <button type="button" class="plain" onClick={dismissEnded}>
          Not needed
        </button>
      </div>
    </section>
  );
}
