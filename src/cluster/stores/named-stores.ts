import { ConfigError } from '@farthing/server/settings/config';
import { fileOf, secretOf } from '@farthing/server/settings/secrets';
import type { Settings } from '@farthing/server/settings/settings';
import { Etcd, type EtcdAccess } from './etcd.ts';
import type { Objects } from './objects/objects.ts';
import { openObjects } from './objects/open-objects.ts';
import { type ClusterKey, readClusterKeys } from './seal.ts';

/** The etcd that `FARTHING_CLUSTER` names, not asked yet. @throws ConfigError for a file that cannot be read */
export async function namedEtcd(
  settings: Settings,
  access: Pick<EtcdAccess, 'answerMsMax'> = {},
): Promise<Etcd> {
  return new Etcd(readCluster(settings).addresses, { ...(await accessOf(settings)), ...access });
}

/** The cluster that `FARTHING_CLUSTER` names. */
export function clusterName(settings: Pick<Settings, 'CLUSTER'>): string {
  return readCluster(settings).name;
}

/** The store that `FARTHING_OBJECTS` names, not asked yet. @throws ConfigError for a file that cannot be read */
export async function namedObjects(settings: Settings): Promise<Objects> {
  const credentials = {
    accessKeyId: settings.OBJECTS_KEY_ID,
    secretAccessKey: await secretOf(settings, 'OBJECTS_SECRET'),
  };
  return openObjects(settings.OBJECTS, credentials, `${clusterName(settings)}/`);
}

/** The cluster keys, the one in use first. @throws ConfigError for a missing or malformed one */
export async function namedClusterKeys(settings: Settings): Promise<[ClusterKey, ...ClusterKey[]]> {
  const text = await secretOf(settings, 'CLUSTER_KEY');
  return readClusterKeys(text).catch((error: Error) => {
    throw new ConfigError(`FARTHING_CLUSTER_KEY: ${error.message}`);
  });
}

function readCluster({ CLUSTER }: Pick<Settings, 'CLUSTER'>): { addresses: string[]; name: string } {
  const scheme = CLUSTER.startsWith('etcds:') ? 'https' : 'http';
  const [members = '', name = 'farthing'] = CLUSTER.replace(/^etcds?:\/\//, '').split('/');
  return { addresses: members.split(',').map((member) => `${scheme}://${member}`), name };
}

async function accessOf(settings: Settings): Promise<EtcdAccess> {
  const [ca, cert, key] = [
    await fileOf(settings, 'CLUSTER_CA_FILE'),
    await fileOf(settings, 'CLUSTER_CERT_FILE'),
    await fileOf(settings, 'CLUSTER_CERT_KEY_FILE'),
  ];
  const name = settings.CLUSTER_USER;
  return {
    tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
    ...(name !== '' && { user: { name, password: await secretOf(settings, 'CLUSTER_PASSWORD') } }),
  };
}
