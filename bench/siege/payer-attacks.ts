import { hostileFile } from '../../test/readers/samples/hostile.ts';
import { BenchWorkspace } from '../rig/agent.ts';
import { bearer, post, type Target } from './requests.ts';
import type { Attack, Strangers } from './strangers.ts';

const MINUTES = 15;
const PER_PAYER = 4;

type MakeFile = (number: number) => readonly [string, Buffer];

/** So many wallets rent a workspace each, and upload on four connections into each. */
function uploads(payers: number, mebibytes: number, file: MakeFile): Attack {
  return {
    connections: payers * PER_PAYER,
    mebibytes,
    run: async (strangers, target) => {
      const rented = await Promise.all(
        Array.from({ length: payers }, () => BenchWorkspace.rent(target.url, MINUTES)),
      );
      let number = 0;
      await Promise.all(
        rented.map(({ url, token }) => {
          const own = { ...target, workspace: { path: new URL(url).pathname, token } };
          return strangers.each(PER_PAYER, () => upload(strangers, own, ...file(++number)));
        }),
      );
    },
  };
}

function upload(strangers: Strangers, target: Target, name: string, body: Buffer): Promise<void> {
  const named = `${bearer(target)}Content-Disposition: attachment; filename="${name}"\r\n`;
  return strangers.send(post(`${target.workspace.path}/ingest`, named, body));
}

const longText: MakeFile = (number) => [
  `${number}.txt`,
  Buffer.from(`${number} ${'Ships lie in the harbour. '.repeat(12_000)}`),
];

/** With the workspaces of several payers, a cent each. */
export const PAYER_ATTACKS: Readonly<Record<string, Attack>> = {
  'long texts of five payers': uploads(5, 1024, longText),
  'long texts of eight payers': uploads(8, 1024, longText),
  'long texts of 24 payers': uploads(24, 1024, longText),
  'long texts of 50 payers': uploads(50, 1024, longText),
  'files of eight payers that draw without end': uploads(8, 64, (number) =>
    number % 2 === 0
      ? [`${number}.svg`, Buffer.concat([hostileFile('masks.svg'), Buffer.from(`<!-- ${number} -->`)])]
      : [`${number}.pdf`, Buffer.concat([hostileFile('self-drawing.pdf'), Buffer.from(`% ${number}\n`)])],
  ),
};
