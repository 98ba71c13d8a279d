import { useState } from 'preact/hooks';
import { shortAddress } from '../model/figures/format.ts';
import { isPlayMoney } from '../model/figures/prices.ts';
import { dismissFault } from '../model/server/attempt.ts';
import { session } from '../model/state/session.ts';
import { useStore } from '../model/state/store.ts';
import { leaveWallet } from '../model/wallet/choose.ts';
import { CloseIcon, CoinIcon, ThemeIcon } from './controls/icons.tsx';
import { DropAnywhere } from './files/drop-anywhere.tsx';
import { Start } from './start/start.tsx';
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

type Theme = 'light' | 'dark';

/** Switches between light and dark, over the system's choice; kept for the next visit. */
function ThemeButton() {
  const root = document.documentElement;
  const system: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const [theme, setTheme] = useState<Theme>((root.dataset.theme as Theme | undefined) ?? system);
  const other: Theme = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    root.dataset.theme = other;
    localStorage.setItem('farthing.theme', other);
    setTheme(other);
  };
  return (
    <button
      type="button"
      class="plain"
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={change}
    >
      <ThemeIcon />
    </button>
  );
}

/** The wallet that pays, by its short address. */
function WalletChip() {
  const { wallet } = useStore(session);
  if (!wallet) return null;
  return (
    <details class="chip">
      <summary aria-label={`${wallet.name} ${shortAddress(wallet.address)}`}>
        <span class="dot" aria-hidden="true" />
        <span class="chip-name">{wallet.name} </span>
        <code>{shortAddress(wallet.address)}</code>
      </summary>
      <div class="chip-menu">
        <code class="whole">{wallet.address}</code>
        {wallet.kind === 'play' && (
          <p>Its key is stored in this browser only. It holds play money, which is worth nothing.</p>
        )}
        <button type="button" onClick={leaveWallet}>
          Disconnect
        </button>
      </div>
    </details>
  );
}
