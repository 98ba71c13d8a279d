import { ConfigError } from '../../settings/config.ts';
import { variableOf } from '../../settings/names.ts';
import type { SettingName } from '../../settings/settings.ts';
import { ListenError, listen, type Server, type ServerOptions } from './server.ts';

/** Listens on the address of some settings. @throws ConfigError that names them, when it cannot be listened on */
export function listenAt(settings: readonly SettingName[], options: ServerOptions): Promise<Server> {
  return listen(options).catch((error: unknown) => {
    throw error instanceof ListenError
      ? new ConfigError(`${settings.map(variableOf).join(', ')}: ${error.message}`)
      : error;
  });
}
