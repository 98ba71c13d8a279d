import { ConfigError } from '@farthing/server/settings/config';
import { secretOf } from '@farthing/server/settings/secrets';
import type { Settings } from '@farthing/server/settings/settings';
import { type ApiKey, type AuthHeaders, basicAuth, cdpAuth, headerAuth, payaiAuth } from './auth-headers.ts';
import type { FacilitatorAddress } from './facilitator-client.ts';
import { type FacilitatorName, type RemoteAddress, SELF } from './facilitators.ts';

/** By the facilitator's name: the settings of its API key (`…_ID`, `…_SECRET`), and how that signs calls. */
const SIGNED = {
  cdp: { setting: 'CDP_KEY', auth: cdpAuth, needsKey: true },
  payai: { setting: 'PAYAI_KEY', auth: payaiAuth, needsKey: false },
} as const satisfies Record<FacilitatorName, object>;

type KeySetting = (typeof SIGNED)[FacilitatorName]['setting'];

/** The facilitators over HTTP that the settings name, in their order, each with what authenticates its calls. @throws ConfigError for a key that cannot be used */
export async function facilitatorAddresses(settings: Settings): Promise<FacilitatorAddress[]> {
  if (settings.FACILITATOR.length === 0) return [];
  const remote = settings.FACILITATOR.filter((named) => named !== SELF);
  const header = await secretOf(settings, 'FACILITATOR_HEADER');
  const owner = remote.find(({ name, basic }) => name === undefined && basic === undefined);
  if (header !== '' && !owner)
    throw new ConfigError(
      'FARTHING_FACILITATOR_HEADER: no facilitator of FARTHING_FACILITATOR is an address without a user: leave it out',
    );
  return Promise.all(
    remote.map(async (named) => ({
      url: named.url,
      authHeaders: await authOf(settings, named, named === owner ? header : ''),
    })),
  );
}

async function authOf(
  settings: Settings,
  { name, basic }: RemoteAddress,
  header: string,
): Promise<AuthHeaders | undefined> {
  if (basic !== undefined) return basicAuth(basic);
  if (name === undefined)
    return header === '' ? undefined : usable('FACILITATOR_HEADER', () => headerAuth(header));
  const { setting, auth, needsKey } = SIGNED[name];
  const key = await apiKey(settings, setting);
  if (key) return usable(`${setting}_SECRET`, () => auth(key));
  if (!needsKey) return undefined;
  throw new ConfigError(
    `FARTHING_${setting}_SECRET_FILE: name the key file; FARTHING_FACILITATOR=${name} needs it`,
  );
}

function usable(setting: string, make: () => AuthHeaders): AuthHeaders {
  try {
    return make();
  } catch (error) {
    throw new ConfigError(`FARTHING_${setting}: ${(error as Error).message}`);
  }
}

/** The key of two settings, or of the JSON file that CDP has for download (`id` or `name`, and `privateKey`). */
async function apiKey(settings: Settings, setting: KeySetting): Promise<ApiKey | undefined> {
  const secret = await secretOf(settings, `${setting}_SECRET`);
  const file = jsonOf(secret);
  const id = settings[`${setting}_ID`] || (file?.id ?? file?.name);
  if (secret === '' && !id) return undefined;
  if (typeof id !== 'string' || id === '')
    throw new ConfigError(`FARTHING_${setting}_ID: the key FARTHING_${setting}_SECRET needs its id`);
  const given = file ? file.privateKey : secret;
  if (typeof given !== 'string' || given === '')
    throw new ConfigError(`FARTHING_${setting}_SECRET: the key FARTHING_${setting}_ID needs its secret`);
  return { id, secret: given };
}

function jsonOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
