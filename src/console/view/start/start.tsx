import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { Ended } from './ended.tsx';
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
