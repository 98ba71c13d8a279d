import { ListenError, listen, type Server, type ServerOptions } from '../http/server.ts';
import { ConfigError } from './config.ts';
import type { SettingName } from './settings.ts';

/** Listens where a setting says. @throws ConfigError naming the setting, when the address is not to be had */
export function listenAt(setting: SettingName, options: ServerOptions): Promise<Server> {
  return listen(options).catch((error: unknown) => {
    throw error instanceof ListenError ? new ConfigError(`${setting}: ${error.message}`) : error;
  });
}
