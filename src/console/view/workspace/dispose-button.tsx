import { useRef } from 'preact/hooks';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { dispose } from '../../model/workspace/workspace.ts';

/** Asks once more, then destroys the workspace. */
export function DisposeButton() {
  const { busy } = useStore(session);
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <div>
      <button
        type="button"
        class="danger"
        aria-disabled={busy !== undefined}
        onClick={() => dialog.current?.showModal()}
      >
        Destroy and get the receipt
      </button>
      <dialog class="confirm" ref={dialog} aria-labelledby="confirm-title">
        <h2 id="confirm-title">Destroy this workspace?</h2>
        <p>
          Its files, index and history are unlinked at once and cannot be brought back. Time that is left is
          not refunded.
        </p>
        <form method="dialog" class="buttons">
          <button type="submit">Keep it</button>
          <button type="submit" class="danger" onClick={() => void dispose()}>
            Destroy
          </button>
        </form>
      </dialog>
    </div>
  );
}
