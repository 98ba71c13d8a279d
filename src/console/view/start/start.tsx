import { type OpenWorkspace, session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { dismissEnded, fetchEndedReceipt } from '../../model/workspace/workspace.ts';
import { Order } from './order.tsx';

/** The empty page: an introduction, and the offer of a workspace. */
export function Start() {
  const { facts, ended } = useStore(session);
  return (
    <div class="start">
      <section class="pitch">
        {ended && <Ended ended={ended} />}
        <h1>Search your files. Pay for the minutes. Leave nothing behind.</h1>
        <p>
          A workspace is a private index that lives for the time you buy. Drop text, PDFs, pictures or films
          into it; find them by meaning, by exact words or by what they show. At its end everything is
          destroyed, and you get a signed receipt.
        </p>
        <p class="quiet">No account, no cookie: a signed payment opens it, a token keeps it yours.</p>
      </section>
      {facts ? (
        <Order facts={facts} />
      ) : (
        <section class="card waiting" aria-busy="true">
          <p>Asking the server…</p>
        </section>
      )}
    </div>
  );
}

/** An expired workspace, whose receipt is still available. */
function Ended({ ended }: { ended: OpenWorkspace }) {
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
