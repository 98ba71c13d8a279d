import { render } from 'preact';
import { discoverWallets } from './model/wallet/wallet.ts';
import { begin } from './model/workspace/visit.ts';
import { App } from './view/app.tsx';

ignoreUnpressable();
discoverWallets();
void begin();
render(<App />, document.getElementById('root')!);

/** Keeps a button from being pressed while it is `aria-disabled`. A `disabled` one would drop the focus. */
function ignoreUnpressable(): void {
  const ignore = (event: Event) => {
    if (!(event.target as Element).closest('button[aria-disabled="true"]')) return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('click', ignore, { capture: true });
}
