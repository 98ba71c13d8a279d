import type { DisposalAnswer } from '@farthing/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { counted, formatBytes, formatTime } from '../../model/figures/format.ts';
import { save } from '../../model/files/content.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { startAgain } from '../../model/workspace/workspace.ts';
import { CopyButton } from '../controls/copy-button.tsx';
import { SealIcon } from '../controls/icons.tsx';

/** What the server keeps of an ended workspace. */
interface Kept {
  readonly what: string;
  readonly why: string;
  readonly until: string | null;
}

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
      <dl>
        <Claim name="Workspace" value={<code class="whole">{String(claims.workspace)}</code>} />
        <Claim name="Created" value={formatTime(claims.created_at)} />
        <Claim name="Destroyed" value={formatTime(claims.disposed_at)} />
        <Claim name="Reason" value={String(claims.reason)} />
        <Claim
          name="Contents"
          value={`${countOf(claims.items, 'item')}, ${countOf(claims.segments, 'segment')}, ${
            typeof claims.bytes === 'number' ? formatBytes(claims.bytes) : '?'
          }`}
        />
        <Claim
          name="Used"
          value={`${countOf(claims.searches, 'search', 'searches')}, ${countOf(claims.ingests, 'upload')}`}
        />
        <Claim name="Paid" value={`${claims.spend_usd} USD`} />
        <Claim name="Issuer" value={<code class="whole">{String(claims.iss)}</code>} />
      </dl>
      {Array.isArray(claims.kept) && <KeptList kept={claims.kept as Kept[]} />}
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

/** Receipts of other releases may lack a count. */
function countOf(count: unknown, singular: string, plural?: string): string {
  return typeof count === 'number' ? counted(count, singular, plural) : `? ${plural ?? `${singular}s`}`;
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

function Claim({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function KeptList({ kept }: { kept: readonly Kept[] }) {
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
