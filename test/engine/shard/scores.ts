import { open, towards } from './fixtures.ts';

/** Prints the answers of an index, with the kernel of its environment: node scores.ts FOLDER TENANT. */
const [folder = '', tenant = ''] = process.argv.slice(2);
const tenants = open(folder);
const answers = await tenants.use(tenant, {}, (shard) => {
  const snapshot = shard.snapshot();
  const lists = [0, 0.4, 2].map((angle) => snapshot.searchVector('text_semantic', towards(angle), 20));
  snapshot.close();
  return lists.map(({ segments, scores }) => [[...segments], [...scores]]);
});
console.log(JSON.stringify(answers));
await tenants.close();
