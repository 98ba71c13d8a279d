import { join } from 'node:path';
import { openStore } from '../../../src/server/state/store.ts';
import { temporaryFolder } from '../../rig/temporary-folder.ts';
import { storeContract } from './store-contract.ts';

storeContract('LMDB', async (t) => {
  const store = openStore(join(temporaryFolder(t), 'state'));
  t.teardown(() => store.close());
  return store;
});
