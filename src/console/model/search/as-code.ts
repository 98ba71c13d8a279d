import { CONFIDENCE_FLOOR } from '@farthing/protocol/search';
import type { Asked } from '../state/asked.ts';
import { filterOf, orderOf } from './only.ts';

/** The same search for authors of agents. The token and a picture are named, not shown. */
export interface CodeOf {
  readonly baseUrl: string;
  readonly workspace: string;
  readonly asked: Asked;
}

export function asCurl({ baseUrl, workspace, asked }: CodeOf): string {
  const { picture, ...words } = bodyOf(asked);
  const url = `${baseUrl}/agent/v1/workspaces/${workspace}/search`;
  const headers = `  -H "Authorization: Bearer $FARTHING_TOKEN" -H "Content-Type: application/json"`;
  const json = JSON.stringify({ ...words, min_confidence: CONFIDENCE_FLOOR });
  if (picture === undefined) return `curl ${url} \\\n${headers} \\\n  -d ${quoted(json)}`;
  const begun = `${json.slice(0, -1)},"image_b64":"`;
  return `(printf '%s' ${quoted(begun)}; base64 -w 0 ${quoted(picture)}; printf '"}') |\ncurl ${url} \\\n${headers} \\\n  -d @-`;
}

export function asTypeScript({ baseUrl, workspace, asked }: CodeOf): string {
  const { picture, ...words } = bodyOf(asked);
  const fields = Object.entries({ ...words, minConfidence: CONFIDENCE_FLOOR }).map(
    ([name, value]) => `  ${name}: ${JSON.stringify(value)},`,
  );
  if (picture !== undefined) fields.push(`  image: await readFile(${JSON.stringify(picture)}),`);
  return [
    ...(picture === undefined ? [] : ["import { readFile } from 'node:fs/promises';"]),
    "import { env } from 'node:process';",
    "import { Farthing } from 'farthing/client';",
    '',
    `const farthing = new Farthing({ baseUrl: ${JSON.stringify(baseUrl)} });`,
    `const workspace = farthing.workspaces.open({ id: ${JSON.stringify(workspace)}, token: env.FARTHING_TOKEN! });`,
    `const { hits } = await workspace.search({\n${fields.join('\n')}\n});`,
    'for (const { item, confidence, locator } of hits.filter(({ likely }) => likely))',
    '  console.log(item.name, confidence, locator);',
  ].join('\n');
}

function bodyOf({ query, picture, families, k, only, order: name }: Asked) {
  const filter = only && filterOf(only);
  const order = orderOf(name);
  return {
    ...(query !== '' && { query }),
    ...(families.length > 0 && { families }),
    k,
    ...(filter && { filter }),
    ...(order && { order }),
    picture: picture?.name,
  };
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
