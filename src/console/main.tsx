import { render } from 'preact';
import { begin } from './model/actions.ts';
import { discoverWallets } from './model/wallet.ts';
import { App } from './view/app.tsx';

discoverWallets();
void begin();
render(<App />, document.getElementById('root')!);
