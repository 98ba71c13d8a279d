import t from 'tap';
import { FolderObjects } from '../../../src/cluster/stores/objects/folder-objects.ts';
import { GuardedObjects } from '../../../src/cluster/stores/objects/guarded-objects.ts';
import { type Objects, objectsUnavailable } from '../../../src/cluster/stores/objects/objects.ts';
import { objectsContract } from './objects-contract.ts';

objectsContract(
  'in a folder, guarded',
  async (t) => new GuardedObjects(new FolderObjects(t.testdir({})), { log: () => undefined }),
);

t.test(
  'a store that is away is asked once in a while, and everything between is refused at once',
  async (t) => {
    let asked = 0;
    let isAway = true;
    const inner = {
      get: async () => {
        asked += 1;
        if (isAway) throw objectsUnavailable(new Error('no route'));
        return undefined;
      },
    } as unknown as Objects;
    const events: object[] = [];
    const log = (event: object) => events.push(event);
    const patient = new GuardedObjects(inner, { log, retryMs: 60_000 });
    for (let time = 0; time < 5; time++) await t.rejects(patient.get('a'), { code: 'objects_unavailable' });
    t.equal(asked, 1);
    const eager = new GuardedObjects(inner, { log, retryMs: 0 });
    for (let time = 0; time < 3; time++) await t.rejects(eager.get('a'), { code: 'objects_unavailable' });
    t.equal(asked, 4);
    isAway = false;
    t.equal(await eager.get('a'), undefined);
    t.match(events, [
      { event: 'objects_unavailable', error: /no route/ },
      { event: 'objects_unavailable' },
      { event: 'objects_there_again' },
    ]);
  },
);
