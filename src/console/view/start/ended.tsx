import { type OpenWorkspace, session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { dismissEnded, fetchEndedReceipt } from '../../model/workspace/workspace.ts';

/** An expired workspace, whose receipt is still available. */
export function Ended({ ended }: { ended: OpenWorkspace }) {
  const { busy } = useStore(session);
  return (
    <section class="card ended" aria-labelledby="ended-title">
      <h2 id="ended-title">Your workspace has expired</h2>
      <p>
        Its data was destroyed. <code>{ended.id.slice(0, 12)}…</code>
      </p>
      <div class="buttons">
        <button type="button" aria-disabled={busy !== undefined} onClick={() => void fetchEndedReceipt()}>
          Get its receipt
        </button>
        <button type="button" class="plain" onClick={dismissEnded}>
          Not needed
        </button>
      </div>
    </section>
  );
}
