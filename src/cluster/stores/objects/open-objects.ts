import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FolderObjects } from './folder-objects.ts';
import type { Objects } from './objects.ts';
import { S3Objects } from './s3.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * The objects that a setting names: `s3://bucket/prefix?endpoint=https://host:port&region=name`, or `file:///folder`.
 * @param below what the names of all objects begin with there
 */
export function openObjects(setting: string, credentials: Credentials, below: string): Objects {
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
