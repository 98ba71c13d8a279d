import { resolve } from 'node:path';
import { assetOn } from '@farthing/payment/asset';
import { facilitatorUrl } from '@farthing/payment/facilitator/facilitators';
import type { Settings } from '../../settings/settings.ts';

/** Facts of a start that the banner shows. */
export interface Started {
  readonly url: string;
  readonly adminPort: number | undefined;
  readonly metricsUrl: string | undefined;
  /** A key that this start has made. */
  readonly key?: string | undefined;
  /** Names of the models that serve. */
  readonly models: readonly string[];
  /** Families that cannot be searched here, each with its reason. */
  readonly missing: readonly string[];
}

const LABEL_COLUMNS = 10;
/** The same path in the repository and in the npm package. */
const DOCS = resolve(import.meta.dirname, '../../../../docs');

/** The first lines of a server on a terminal: where it is, what it charges, and what it holds. */
export function banner(settings: Settings, started: Started): string {
  const { BASE_URL, CONSOLE, DATA_DIR, FACILITATOR, PAY_TO } = settings;
  const url = BASE_URL || started.url;
  const network = assetOn(settings.NETWORK);
  const rows: [label: string, text: string][] = [
    ['console', CONSOLE === '0' ? 'off (FARTHING_CONSOLE=0)' : `${url}/`],
    ['API', `${url}/openapi.json  for agents: ${url}/agents.md`],
    ['docs', DOCS],
    [
      'payments',
      FACILITATOR.length === 0
        ? 'play money: no money moves. FARTHING_FACILITATOR and FARTHING_PAY_TO make it real'
        : `${network.isTestnet ? 'worthless coins' : 'real money'} on ${network.title} to ${PAY_TO}, settled by ${FACILITATOR.map(facilitatorUrl).join(', ')}`,
    ],
    ...(started.key === undefined
      ? []
      : ([
          [
            'house',
            'your own agents pay nothing, and their files stay. This key is shown once (docs/house.md):',
          ],
          ['', `export FARTHING_KEY=${started.key}`],
        ] as [string, string][])),
    ['models', started.models.join(', ') || 'none: only exact words are searched'],
    ...started.missing.map((reason): [string, string] => ['', `missing: ${reason}`]),
    ['data', resolve(DATA_DIR)],
  ];
  if (started.adminPort !== undefined) rows.push(['operator', `http://127.0.0.1:${started.adminPort}/`]);
  if (started.metricsUrl !== undefined) rows.push(['metrics', started.metricsUrl]);
  return rows.map(([label, text]) => `  ${label.padEnd(LABEL_COLUMNS)}${text}\n`).join('');
}
