import { render } from 'preact';
import { begin } from './model/visit.ts';
import { discoverWallets } from './model/wallet/wallet.ts';
import { App } from './view/app.tsx';

discoverWallets();
void begin();
render(<App />, document.getElementById('root')!);
