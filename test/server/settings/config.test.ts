import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError, configNotices, readConfig } from '../../../src/server/settings/config.ts';
import '../../rig/teardown-order.ts';

const fault = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

function fileOf(t: Test, settings: object): string {
  const path = join(t.testdir({}), 'farthing.json');
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

t.test('without any setting the defaults hold', async (t) => {
  const settings = readConfig({ PATH: '/bin', HOME: '/home/someone' });
  t.match(settings, { HOST: '127.0.0.1', PORT: 8402, DATA_DIR: './data', X402_BODY_NETWORK: 'eip155:8453' });
  t.equal(settings.SEARCH_PRICE_USD, 6000n);
  t.ok(Object.isFrozen(settings));
});

t.test('an invalid value stops the start and names the setting and what is allowed', async (t) => {
  t.match(fault({ FARTHING_PORT: '70000' }), /FARTHING_PORT="70000": must be a whole number from 0 to 65535/);
  t.match(
    fault({ FARTHING_WORKSPACE_BASE_USD: '0.0000001' }),
    /WORKSPACE_BASE_USD=.*six decimals|at most 6 decimals/,
  );
  t.match(fault({ FARTHING_X402_BODY_NETWORK: 'mainnet' }), /X402_BODY_NETWORK="mainnet": must be one of/);
  t.match(fault({ FARTHING_PAY_TO: '0x12' }), /FARTHING_PAY_TO/);
  t.match(fault({ FARTHING_BASE_URL: 'ftp://x' }), /FARTHING_BASE_URL/);
  for (const [name, value, allowed] of [
    ['SERVICE_NAME', '', /1 to 32 printable ASCII characters/],
    ['SERVICE_NAME', 'x'.repeat(33), /1 to 32 printable ASCII characters/],
    ['SERVICE_NAME', 'Bücher', /1 to 32 printable ASCII characters/],
    ['SERVICE_TAGS', 'a,b,c,d,e,f', /at most 5 tags/],
    ['SERVICE_TAGS', `a,${'x'.repeat(33)}`, /1 to 32 printable ASCII characters/],
    ['SERVICE_ICON_URL', 'ftp://pumps.example/i.png', /http or https address/],
    ['SERVICE_ICON_URL', `https://pumps.example/${'x'.repeat(2048)}`, /at most 2048 characters/],
    ['SERVICE_DESCRIPTION', 'x'.repeat(251), /at most 250 characters/],
  ] as const)
    t.match(fault({ [`FARTHING_${name}`]: value }), allowed, name);
});

t.test('an unknown name stops the start, in the environment by its prefix, and in the file', async (t) => {
  t.match(
    fault({ FARTHING_WORKSPACE_MINUTES_USD: '1', FARTHING_COLOUR: 'red' }),
    /FARTHING_WORKSPACE_MINUTES_USD: there is no such setting .*did you mean FARTHING_WORKSPACE_MINUTE_USD\?\nFARTHING_COLOUR: there is no such setting \(in the environment\)$/,
  );
  t.match(fault({ FARTHING_CONFIG: fileOf(t, { PROT: 1 }) }), /PROT: .* did you mean FARTHING_PORT\?/);
  t.match(fault({ FARTHING_CONFIG: '/no/such/file' }), /there is no file/);
});

t.test('a former setting that is a constant now stops the start and says so', async (t) => {
  t.match(
    fault({ FARTHING_PIXELS_MAX: '1000' }),
    /FARTHING_PIXELS_MAX: this is no setting any more \(in the environment\); it is 100 million now: leave it out$/,
  );
  t.match(fault({ FARTHING_CONFIG: fileOf(t, { PREPAID_DAYS: 1 }) }), /PREPAID_DAYS: .* it is 90 now/);
});

t.test('a secret is named in the environment or in a file, under two names', async (t) => {
  t.match(readConfig({ FARTHING_CLUSTER_PASSWORD_FILE: '/etc/secret' }), {
    CLUSTER_PASSWORD: '',
    CLUSTER_PASSWORD_FILE: '/etc/secret',
  });
  t.match(fault({ FARTHING_CLUSTER_PASSWORD_FIEL: 'x' }), /did you mean FARTHING_CLUSTER_PASSWORD_FILE\?/);
});

t.test('a slip in a name without the prefix is reported with the setting that is near', async (t) => {
  const meant = (variable: string) => configNotices({ [variable]: '1' }).map(({ note }) => note);
  for (const [slip, setting] of [
    ['PROT', 'FARTHING_PORT'],
    ['PORTS', 'FARTHING_PORT'],
    ['WORKSPACE_MINUTES_USD', 'FARTHING_WORKSPACE_MINUTE_USD'],
    ['FACILTATRO', 'FARTHING_FACILITATOR'],
    ['FACILITATOR_URL', 'FARTHING_FACILITATOR'],
    ['FARTHNG_PORT', 'FARTHING_PORT'],
    ['Farthing_Port', 'FARTHING_PORT'],
    ['SEARCH_PRICE', 'FARTHING_SEARCH_PRICE_USD'],
  ] as const)
    t.match(meant(slip), [new RegExp(`did you mean ${setting}\\?`)], slip);
  for (const usual of ['HOME', 'PATH', 'HOSTNAME', 'TERM', 'LANG', 'TMPDIR', 'NODE_ENV'])
    t.same(meant(usual), [], usual);
  t.match(
    fault({ NODE_ENV: 'production', FACILITATRO: 'https://facilitator.example' }),
    /needs a facilitator.*\nFACILITATRO: .*did you mean FARTHING_FACILITATOR\?/,
    'beside the fault that it causes',
  );
});

t.test('a setting without the prefix is not read from the environment, and reported', async (t) => {
  const environment = { PORT: '9001', FARTHING_HOST: '::1' };
  t.match(readConfig(environment), { PORT: 8402, HOST: '::1' });
  t.match(configNotices(environment), [{ variable: 'PORT', note: /did you mean FARTHING_PORT\?/ }]);
  t.match(
    fault({ FACILITATOR: 'cdp' }),
    /^FACILITATOR: .*did you mean FARTHING_FACILITATOR\?/,
    'play money does not take its place',
  );
});

t.test('the file takes names with the prefix and without it, and the environment wins', async (t) => {
  const path = fileOf(t, { PORT: 9000, FARTHING_LOG_LEVEL: 'warn' });
  t.match(readConfig({ FARTHING_CONFIG: path }), { PORT: 9000, LOG_LEVEL: 'warn' });
  t.match(readConfig({ FARTHING_CONFIG: path, FARTHING_PORT: '9001' }), { PORT: 9001, LOG_LEVEL: 'warn' });
  const both = { FACILITATOR_HEADER: 'a: secret-1', FARTHING_FACILITATOR_HEADER: 'a: secret-2' };
  t.equal(
    fault({ FARTHING_CONFIG: fileOf(t, both) }),
    'FACILITATOR_HEADER and FARTHING_FACILITATOR_HEADER are the same setting (in the file): leave out one',
    'and shows neither value',
  );
});

t.test('a facilitator without a wallet to pay to is refused', async (t) => {
  t.match(fault({ FARTHING_FACILITATOR: 'https://facilitator.example' }), /FARTHING_PAY_TO/);
  t.match(fault({ FARTHING_CONFIRM_SETTLEMENTS: '1' }), /FARTHING_RPC_URL/);
  t.equal(fault({ FARTHING_RPC_URL: 'https://a.example/v1?apikey=1,http://b.example:8545' }), '');
  t.match(fault({ FARTHING_RPC_URL: 'ws://a.example' }), /must be http or https addresses/);
});

t.test('facilitators are names or addresses, each once; a testnet’s sells nothing for money', async (t) => {
  const of = (FARTHING_FACILITATOR: string, more = {}) =>
    fault({ FARTHING_FACILITATOR, FARTHING_PAY_TO: `0x${'1'.repeat(40)}`, ...more });
  for (const good of [
    'cdp',
    'payai',
    'cdp, payai',
    'https://a.example/x402/,http://u:p@127.0.0.1:8080',
    'cdp@http://127.0.0.1:1/x',
  ])
    t.equal(of(good), '', good);
  const own = { FARTHING_RPC_URL: 'https://node.example', FARTHING_GAS_KEY_FILE: '/etc/farthing/gas.key' };
  for (const good of ['self', 'cdp,self', 'self,https://a.example']) t.equal(of(good, own), '', good);
  t.match(of('self', { ...own, FARTHING_RPC_URL: '' }), /FARTHING_RPC_URL: name a node of the chain/);
  t.match(of('self', { ...own, FARTHING_GAS_KEY_FILE: '' }), /FARTHING_GAS_KEY_FILE: name the file/);
  t.match(of('self', { ...own, FARTHING_GAS_KEY: '1' }), /FARTHING_GAS_KEY: leave it out/);
  t.match(of('self,self', own), /self is named twice/);
  t.match(of('cdp', own), /FARTHING_FACILITATOR: name self in it/);
  for (const wrong of ['0', '-1', '1e3', '.0000000001'])
    t.match(of('self', { ...own, FARTHING_GAS_FEE_GWEI_MAX: wrong }), /a number of gwei above 0/);
  t.match(of('self', { ...own, FARTHING_GAS_COIN_USD: '0' }), /a number of dollars above 0/);
  for (const former of ['FACILITATOR_URL', 'FARTHING_FACILITATOR_URL', 'FACILITATOR_VERIFY_URLS'])
    t.match(
      fault({ [former]: 'https://a.example' }),
      /no such setting .* did you mean FARTHING_FACILITATOR\?/,
    );
  t.match(of('coinbase'), /must be cdp, payai, self, or http or https addresses/);
  t.match(of('coinbase@https://a.example'), /coinbase is no known facilitator/);
  t.match(of('https://a.example/?key=1'), /without query/);
  t.match(of('cdp,payai,cdp'), /named twice/);
  for (const testnets of ['https://x402.org/facilitator', 'cdp,https://www.x402.org/facilitator']) {
    t.match(of(testnets), /settles on testnets alone: FARTHING_NETWORK=eip155:84532/);
    t.equal(of(testnets, { FARTHING_NETWORK: 'eip155:84532' }), '');
  }
});

t.test('play money is refused in production unless it is asked for', async (t) => {
  t.match(fault({ NODE_ENV: 'production' }), /FARTHING_FACILITATOR:/);
  t.equal(fault({ NODE_ENV: 'production', FARTHING_ALLOW_PLAY_MONEY: '1' }), '');
});

t.test('objects need etcd, a cluster key, a bucket’s access key; no secret is shown', async (t) => {
  const whole = {
    FARTHING_CLUSTER: 'etcds://a:2379,b:2379/name',
    FARTHING_OBJECTS: 's3://bucket/prefix?endpoint=https://c:3900&region=here',
    FARTHING_OBJECTS_KEY_ID: 'id',
    FARTHING_OBJECTS_SECRET: 'secret-1',
    FARTHING_CLUSTER_KEY: 'secret-2',
  };
  t.equal(fault(whole), '');
  t.equal(fault({ ...whole, FARTHING_OBJECTS: 'file:///mnt/objects' }), '');
  for (const name of Object.keys(whole).filter((key) => key !== 'FARTHING_OBJECTS')) {
    const message = fault({ ...whole, [name]: '' });
    t.match(message, new RegExp(`^${name}`));
    t.notMatch(message, /secret-/);
  }
  t.match(fault({ ...whole, FARTHING_CLUSTER_KEY_FILE: '/key' }), /either this or FARTHING_CLUSTER_KEY_FILE/);
  for (const wrong of [
    's3:bucket',
    'file://host/folder',
    's3://b?endpoint=ftp://x',
    's3://b?key=1',
    'bucket',
  ])
    t.match(fault({ ...whole, FARTHING_OBJECTS: wrong }), /FARTHING_OBJECTS=.*must be/, wrong);
});
