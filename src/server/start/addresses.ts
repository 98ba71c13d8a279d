import { createServer } from 'node:net';
import { ConfigError } from '../settings/config.ts';
import { variableOf } from '../settings/names.ts';
import type { SettingName, Settings } from '../settings/settings.ts';

/** Looks whether the addresses of the settings are free. @throws ConfigError that names the settings of one that is not */
export async function checkAddresses({ HOST, PORT, ADMIN_PORT }: Settings): Promise<void> {
  await checkAddress(['HOST', 'PORT'], HOST, PORT);
  if (ADMIN_PORT !== undefined) await checkAddress(['ADMIN_PORT'], '127.0.0.1', ADMIN_PORT);
}

function checkAddress(settings: readonly SettingName[], host: string, port: number): Promise<void> {
  return new Promise((free, refuse) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      const names = settings.map(variableOf);
      refuse(
        new ConfigError(
          `${names.join(', ')}: cannot listen on ${host}:${port}: ${reasonOf(code, names.at(-1)!)}`,
        ),
      );
    });
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => free()));
  });
}

function reasonOf(code: string | undefined, variable: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another process has the port, perhaps a Farthing that runs already; stop it, or set another ${variable}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return "the address is not this machine's; 127.0.0.1 is for this machine alone, 0.0.0.0 for all of its addresses";
    case 'EACCES':
      return `ports below 1024 need a privilege; set a higher ${variable}`;
    default:
      return String(code);
  }
}
