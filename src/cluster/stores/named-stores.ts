import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@farthing/server/settings/config';
import { fileOf, secretOf } from '@farthing/server/settings/secrets';
import type { Settings } from '@farthing/server/settings/settings';
import { Etcd, type EtcdAccess } from './etcd.ts';
import { FolderObjects } from './objects/folder-objects.ts';
import type { Objects } from './objects/objects.ts';
import { S3Objects } from './objects/s3.ts';
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

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * The objects that a setting names: `s3://bucket/prefix?endpoint=https://host:port&region=name`, or `file:///folder`.
 * @param below what the names of all objects begin with there
 */
function openObjects(setting: string, credentials: Credentials, below: string): Objects {
  const url = new URL(setting);
  if (url.protocol === 'file:') return new FolderObjects(resolve(fileURLToPath(url)), below);
  const region = url.searchParams.get('region') ?? 'us-east-1';
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '');
  return new S3Objects({
    endpoint: url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`,
    bucket: url.hostname,
    prefix: `${prefix === '' ? '' : `${prefix}/`}${below}`,
    region,
    ...credentials,
  });
}
