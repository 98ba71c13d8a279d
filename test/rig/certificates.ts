import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();
/** Why no certificates can be made; undefined where they can. */
export const withoutOpenssl = hasOpenssl ? undefined : 'needs openssl, to make certificates';

/** Paths of PEM files. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** An authority, and a certificate that it signed for this machine's loopback. etcd's gateway refuses users whose certificate has a common name. */
export function makeCertificates(folder: string): Certificates {
  mkdirSync(folder);
  const at = (name: string) => join(folder, name);
  const openssl = (...words: string[]) => execFileSync('openssl', words, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=ca',
  );
  openssl('req', ...key, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', '/O=farthing');
  writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n');
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
  openssl(
    'x509',
    '-req',
    '-in',
    at('request.pem'),
    ...signed,
    '-extfile',
    at('names'),
    '-out',
    at('cert.pem'),
  );
  return { ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') };
}
