import { render } from 'preact';
import { keepWatching } from './model/operate/snapshots.ts';
import { Operate } from './view/operate/operate.tsx';

void keepWatching();
render(<Operate />, document.getElementById('root')!);
