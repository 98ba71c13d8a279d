import type { Eip1193Signer } from 'farthing/client';
import { journey } from './journey.ts';

/** In a browser, with its wallet: what a test calls there. */
const page = globalThis as unknown as { ethereum: Eip1193Signer; travel: (url: string) => Promise<object> };
page.travel = async (url) => {
  const pdf = await (await fetch('/almanac.pdf')).blob();
  return journey(url, { signer: page.ethereum }, pdf);
};
