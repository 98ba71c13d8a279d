import { render } from 'preact';
import { discoverWallets } from './model/wallet/wallet.ts';
import { begin } from './model/workspace/visit.ts';
import { App } from './view/app.tsx';
import { ignoreUnpressable } from './view/controls/unpressable.ts';

ignoreUnpressable();
discoverWallets();
void begin();
render(<App />, document.getElementById('root')!);
