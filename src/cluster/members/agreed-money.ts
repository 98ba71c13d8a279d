import type { Kv } from '../stores/kv.ts';
import { ClaimError } from './slot-claims.ts';

/**
 * The first server of a cluster writes down which money its books are in: `play`, or a network. What one money bought would be good for
 * another, so a server in another one may not join.
 * @throws ClaimError, AnswerLostError
 */
export async function agreeOnMoney(kv: Kv, cluster: string, own: string): Promise<void> {
  const key = `/farthing/${cluster}/money`;
  for (;;) {
    const [row] = await kv.range(key, `${key}\0`);
    const agreed = row && Buffer.from(row.value).toString();
    if (agreed === own) return;
    if (agreed !== undefined)
      throw new ClaimError(
        `the books of the cluster "${cluster}" are in ${shown(agreed)}, and these settings in ${shown(own)}: make a new cluster for another money`,
      );
    const { done } = await kv.commit({
      when: [{ key, revision: 0 }],
      puts: [{ key, value: Buffer.from(own) }],
    });
    if (done) return;
  }
}

const shown = (money: string): string => (money === 'play' ? 'play money' : money);
