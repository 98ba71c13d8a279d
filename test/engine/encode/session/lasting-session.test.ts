import t from 'tap';
import type { Candidate } from '../../../../src/engine/encode/models/tower.ts';
import { openLasting } from '../../../../src/engine/encode/session/lasting-session.ts';
import type { Output, Session } from '../../../../src/engine/encode/session/session.ts';

const candidate: Candidate = {
  provider: 'cuda',
  path: 'weights',
  sha256: 'same',
  queryRows: 1,
  ingestRows: 1,
  runTokens: 256,
  paddingShare: 0.15,
  providerOptions: { device_id: 0 },
};
const output = (value: number): Record<string, Output> => ({
  out: { data: Float32Array.of(value), dims: [1] },
});

/** Fake providers, each with what its runs do; keeps what was opened and closed. */
function fakes(runs: { cuda: () => Record<string, Output>; cpu: () => Record<string, Output> }) {
  const opened: Candidate[] = [];
  const closed: string[] = [];
  const open = async (candidate: Candidate): Promise<Session> => {
    opened.push(candidate);
    const provider = candidate.provider as 'cuda' | 'cpu';
    return {
      run: async () => runs[provider](),
      close: async () => {
        closed.push(provider);
        if (provider === 'cuda') throw new Error('the device is gone');
      },
    };
  };
  return { open, opened, closed };
}

t.test(
  'a device that is lost in a run is replaced by the processor with the same weights, and the run is answered',
  async (t) => {
    let alive = true;
    const { open, opened, closed } = fakes({
      cuda: () => {
        if (!alive) throw new Error('CUDA error 719: unspecified launch failure');
        return output(1);
      },
      cpu: () => output(2),
    });
    const session = await openLasting(candidate, open);
    t.equal((await session.run({}, { out: [1] })).out!.data[0], 1);
    t.equal(session.loss, undefined);
    alive = false;
    t.equal((await session.run({}, { out: [1] })).out!.data[0], 2);
    t.match(session.loss, /CUDA error 719/);
    t.equal((await session.run({}, { out: [1] })).out!.data[0], 2);
    t.match(opened, [candidate, { provider: 'cpu', path: 'weights', providerOptions: undefined }]);
    t.equal(opened.length, 2);
    t.strictSame(closed, ['cuda']);
  },
);

t.test('a run that fails on the processor, too, costs no device', async (t) => {
  const { open, closed } = fakes({
    cuda: () => {
      throw new Error('bad shape on the device');
    },
    cpu: () => {
      throw new Error('bad shape');
    },
  });
  const session = await openLasting(candidate, open);
  await t.rejects(session.run({}, { out: [1] }), /bad shape on the device/);
  t.equal(session.loss, undefined);
  t.strictSame(closed, ['cpu']);
});
