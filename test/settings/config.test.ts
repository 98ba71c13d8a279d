import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError, readConfig } from '../../src/settings/config.ts';
import '../rig/teardown-order.ts';

const fault = (environment: Record<string, string>): string => {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

t.test('without any setting the defaults hold', async (t) => {
  const settings = readConfig({ PATH: '/bin', HOME: '/home/someone' });
  t.match(settings, { HOST: '127.0.0.1', PORT: 8402, DATA_DIR: './data', X402_BODY_NETWORK: 'eip155:8453' });
  t.equal(settings.SEARCH_PRICE_USD, 6000n);
  t.ok(Object.isFrozen(settings));
});

t.test('an invalid value stops the start and names the setting and what is allowed', async (t) => {
  t.match(fault({ PORT: '70000' }), /PORT="70000": must be a whole number from 0 to 65535/);
  t.match(fault({ WORKSPACE_BASE_USD: '0.0000001' }), /WORKSPACE_BASE_USD=.*six decimals|at most 6 decimals/);
  t.match(fault({ X402_BODY_NETWORK: 'mainnet' }), /X402_BODY_NETWORK="mainnet": must be one of/);
  t.match(fault({ PAY_TO: '0x12' }), /PAY_TO/);
  t.match(fault({ BASE_URL: 'ftp://x' }), /BASE_URL/);
});

t.test('an unknown setting stops the start, in the environment and in the file', async (t) => {
  t.match(fault({ WORKSPACE_MINUTES_USD: '1' }), /WORKSPACE_MINUTES_USD: there is no such setting/);
  const path = join(t.testdir(), 'farthing.json');
  writeFileSync(path, JSON.stringify({ PROT: 1 }));
  t.match(fault({ FARTHING_CONFIG: path }), /PROT: there is no such setting/);
});

t.test('the environment wins over the file', async (t) => {
  const path = join(t.testdir(), 'farthing.json');
  writeFileSync(path, JSON.stringify({ PORT: 9000, LOG_LEVEL: 'warn' }));
  t.match(readConfig({ FARTHING_CONFIG: path, PORT: '9001' }), { PORT: 9001, LOG_LEVEL: 'warn' });
});

t.test('a facilitator without a wallet to pay to is refused', async (t) => {
  t.match(fault({ FACILITATOR_URL: 'https://facilitator.example' }), /PAY_TO/);
});

t.test('play money is refused in production unless it is asked for', async (t) => {
  t.match(fault({ NODE_ENV: 'production' }), /FACILITATOR_URL/);
  t.equal(fault({ NODE_ENV: 'production', ALLOW_PLAY_MONEY: '1' }), '');
});
