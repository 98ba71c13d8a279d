import { openEncoder } from '../../src/engine/encode/open-encoder.ts';
import { familyReports } from '../../src/engine/search/families.ts';

/**
 * A start in a process that sees no GPU (`lostDevice` hides them before it begins: a driver that was loaded once does not look
 * again). Prints who serves, as JSON.
 */
const [modelsFolder, cacheFolder] = process.argv.slice(2);
const encoder = await openEncoder({
  modelsFolder: modelsFolder!,
  cacheFolder: cacheFolder!,
  queryQueueMax: 64,
  ingestQueueMax: 64,
  log: () => {},
});
const { text_semantic: vector } = await encoder.encodeQuery('text', 'does it still answer', {
  tenant: 'gpu-check',
});
const families = familyReports(encoder).flatMap(({ family, provider }) =>
  provider ? [{ family, provider }] : [],
);
await encoder.close();
console.log(JSON.stringify({ answered: vector !== undefined, families }));
