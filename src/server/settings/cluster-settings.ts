import { cluster, httpUrl, integer, objects, secret, setting, text } from './readers.ts';

const MEBIBYTE = 1024 * 1024;

/** Settings of a server that shares its stores and files with others. */
export const CLUSTER_SETTINGS = {
  SLOTS: setting(
    integer(1, 128),
    '1',
    'Parts into which books and indexes are split. Servers that share them need 8 for each server there may ever be. Fixed for a data folder and a cluster.',
  ),
  CLUSTER: setting(
    cluster,
    '',
    'etcd that keeps the books: etcd://host:port,host:port/name; the name is optional; `etcds` for TLS. A start over an empty folder restores them. Empty: only this disk keeps them.',
  ),
  NODE_ID: setting(
    text,
    'n1',
    'Name of this server in FARTHING_CLUSTER. A server restarted under the same name takes over immediately.',
  ),
  CLUSTER_LEASE_SECONDS: setting(
    integer(0, 60),
    '0',
    'Seconds without a renewal after which another server takes over; 5 is a good value, 3 the minimum. The same on all servers, each with its own FARTHING_NODE_ID. Needs FARTHING_OBJECTS. 0: no takeover.',
  ),
  NODE_URL: setting(
    httpUrl,
    '',
    'Address at which the other servers of FARTHING_CLUSTER reach this one, such as http://10.0.0.1:8402. Set on each, it makes all of them serve and share FARTHING_SLOTS. Needs FARTHING_CLUSTER_LEASE_SECONDS, FARTHING_OBJECTS and the same FARTHING_BASE_URL on all. Empty: one server serves.',
  ),
  NODE_CA_FILE: setting(
    text,
    '',
    'PEM file of the certificate authority of servers whose FARTHING_NODE_URL is https. Empty: the authorities that Node trusts.',
  ),
  NODE_WEIGHT: setting(
    integer(1, 1000),
    '100',
    'Share of the slots that this server takes, relative to the other servers.',
  ),
  STANDBY_BYTES_MAX: setting(
    integer(0, 2 ** 50),
    String(8192 * MEBIBYTE),
    'Disk space for copies of indexes that this server would take over (FARTHING_NODE_URL), the last used first; it follows their books as well. 0: no copies; a takeover loads everything from etcd and the object store.',
  ),
  CLUSTER_USER: setting(text, '', 'User of the etcd of FARTHING_CLUSTER. Empty: etcd asks for none.'),
  CLUSTER_PASSWORD: secret('Password of that user.'),
  CLUSTER_CA_FILE: setting(
    text,
    '',
    'PEM file of the certificate authority for etcd. Empty: the authorities that Node trusts.',
  ),
  CLUSTER_CERT_FILE: setting(
    text,
    '',
    'PEM file with this server’s client certificate, if etcd requires one.',
  ),
  CLUSTER_CERT_KEY_FILE: setting(
    text,
    '',
    'PEM file with the private key of the certificate in FARTHING_CLUSTER_CERT_FILE.',
  ),
  OBJECTS: setting(
    objects,
    '',
    'Object store for files and indexes, encrypted: s3://bucket/prefix?endpoint=https://host:port&region=name, or file:///folder. Needs FARTHING_CLUSTER and a cluster key. Empty: only this disk has them.',
  ),
  OBJECTS_KEY_ID: setting(text, '', 'Access key id for the bucket of FARTHING_OBJECTS.'),
  OBJECTS_SECRET: secret('Secret access key.'),
  CLUSTER_KEY: secret(
    'Key that encrypts the keys of all tenants: 64 hexadecimal digits, for example from `openssl rand -hex 32`. Without it nothing in FARTHING_OBJECTS can be read. Former keys may follow in its file, one per line, until a start has replaced them.',
  ),
} as const;
