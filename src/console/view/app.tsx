import { isPlayMoney } from '../model/figures/prices.ts';
import { dismissFault } from '../model/server/attempt.ts';
import { session } from '../model/state/session.ts';
import { useStore } from '../model/state/store.ts';
import { CloseIcon, CoinIcon } from './controls/icons.tsx';
import { ThemeButton } from './controls/theme-button.tsx';
import { DropAnywhere } from './files/drop-anywhere.tsx';
import { Start } from './start/start.tsx';
import { WalletChip } from './start/wallet-chip.tsx';
import { Receipt } from './workspace/receipt.tsx';
import { Requests } from './workspace/requests.tsx';
import { WorkspaceView } from './workspace/workspace.tsx';

/** The whole page, drawn from the session. */
export function App() {
  const { opened, disposal, fault, said, facts } = useStore(session);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="top">
        <span class="brand">
          <CoinIcon />
          <span>Farthing</span>
        </span>
        {facts && isPlayMoney(facts) && <span class="play-money">play money</span>}
        <span class="spring" />
        <WalletChip />
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {fault !== undefined && (
          <div class="fault" role="alert">
            <p>{fault}</p>
            <button type="button" class="plain" aria-label="Dismiss" onClick={dismissFault}>
              <CloseIcon />
            </button>
          </div>
        )}
        {opened ? <WorkspaceView opened={opened} /> : disposal ? <Receipt disposal={disposal} /> : <Start />}
      </main>
      <footer class="bottom">
        <Requests />
        <p>
          For agents: <a href="/agents.md">guide</a> · <a href="/openapi.json">API</a> ·{' '}
          <a href="/.well-known/mcp/server-card.json">MCP</a> · <a href="/readyz">state</a>
        </p>
      </footer>
      <DropAnywhere />
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  );
}

/** Moves only the focus: the fragment after the `#` is the search. */
function skip(): void {
  document.getElementById('main')?.focus();
}
