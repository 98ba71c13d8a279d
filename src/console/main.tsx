import { render } from 'preact';
import { discoverWallets } from './model/wallet/wallet.ts';
import { begin } from './model/workspace/visit.ts';
import { App } from './view/app.tsx';

discoverWallets();
void begin();
render(<App />, document.getElementById('root')!);
