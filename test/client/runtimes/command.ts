import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { journey } from './journey.ts';

/** `command.ts URL PDF`, in Node, Deno or Bun: prints the journey's report as JSON. */
const [url, pdf] = process.argv.slice(2);
console.log(
  JSON.stringify(await journey(url!, { account: privateKeyToAccount(generatePrivateKey()) }, pdf!)),
);
