import type { DisposalAnswer } from '@farthing/client';
import { SHOWN_FIELDS } from '@farthing/protocol/schema/shown-fields';
import type { KeptFact } from '@farthing/protocol/schema/workspaces';
import { useEffect, useRef } from 'preact/hooks';
import { formatTime } from '../../model/figures/format.ts';
import { save } from '../../model/files/content.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { startAgain } from '../../model/workspace/workspace.ts';
import { CopyButton } from '../controls/copy-button.tsx';
import { SealIcon } from '../controls/icons.tsx';
import { Facts } from '../parts/facts.tsx';

/** The end of a workspace: what was destroyed, signed, and checked in this browser. */
export function Receipt({ disposal }: { disposal: DisposalAnswer }) {
  const { doubt } = useStore(session);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const { claims } = disposal;
  return (
    <article class="receipt card">
      <h1 tabIndex={-1} ref={title}>
        Disposal receipt
      </h1>
      <Verdict doubt={doubt} />
      <Facts fields={SHOWN_FIELDS.receipt} record={claims} />
      {claims.kept && <KeptList kept={claims.kept} />}
      <details>
        <summary>The receipt as it was signed (compact JWS)</summary>
        <textarea readOnly rows={5} aria-label="Receipt" value={disposal.receipt} />
      </details>
      <div class="buttons">
        <button type="button" onClick={() => saveReceipt(disposal)}>
          Save it as a file
        </button>
        <CopyButton text={disposal.receipt} label="Copy the receipt" />
        <button type="button" class="primary" onClick={startAgain}>
          Open another workspace
        </button>
      </div>
    </article>
  );
}

/** `farthing admin receipt verify` reads it. */
function saveReceipt({ id, receipt }: DisposalAnswer): void {
  save(new Blob([receipt, '\n'], { type: 'application/jose' }), `farthing-receipt-${id}.jws`);
}

function Verdict({ doubt }: { doubt: string | undefined }) {
  return (
    <p class="verdict" data-state={doubt === undefined ? 'valid' : 'invalid'}>
      <SealIcon />
      <span>
        {doubt ?? 'The signature is good, checked in this browser with the key that the server publishes.'}
      </span>
    </p>
  );
}

function KeptList({ kept }: { kept: readonly KeptFact[] }) {
  return (
    <section>
      <h2>What the server still keeps</h2>
      <ul class="kept">
        {kept.map(({ what, why, until }) => (
          <li key={what}>
            {what} ({why}){until === null ? '' : `, until ${formatTime(until)}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
