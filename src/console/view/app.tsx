import { dismissFault } from '../model/attempt.ts';
import { isPlayMoney } from '../model/prices.ts';
import { session } from '../model/session.ts';
import { useStore } from '../model/store.ts';
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
      <a class="skip" href="#main">
        Skip to the content
      </a>
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
          <a href="/openapi.json">openapi.json</a> · <a href="/readyz">readyz</a>
        </p>
      </footer>
      <DropAnywhere />
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  );
}
