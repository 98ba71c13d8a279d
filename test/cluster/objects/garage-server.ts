import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../../rig/eventually.ts';
import { freePorts } from '../../rig/ports.ts';

/** Built by `make garage`. */
const PROGRAM = resolve(import.meta.dirname, '../../../.build/garage/bin/garage');
const run = promisify(execFile);

/** Why there is no S3 server to test with; undefined where there is. */
export const withoutGarage = existsSync(PROGRAM)
  ? undefined
  : 'needs Garage, a server of S3: `make garage` builds it where Rust is';

/** One node of Garage on this machine, with one key. */
export class GarageServer {
  readonly endpoint: string;
  readonly keyId = `GK${randomBytes(12).toString('hex')}`;
  readonly secret = randomBytes(32).toString('hex');
  readonly #configuration: string;
  #child: ChildProcess | undefined;

  /** @param folder absolute path, for configuration and data */
  static async start(folder: string): Promise<GarageServer> {
    mkdirSync(folder, { recursive: true });
    const [api, rpc, admin] = await freePorts(3);
    const configuration = join(folder, 'garage.toml');
    writeFileSync(
      configuration,
      `metadata_dir = "${folder}/meta"
data_dir = "${folder}/data"
db_engine = "lmdb"
metadata_fsync = true
data_fsync = true
replication_factor = 1
rpc_bind_addr = "127.0.0.1:${rpc}"
rpc_public_addr = "127.0.0.1:${rpc}"
rpc_secret = "${randomBytes(32).toString('hex')}"
[s3_api]
s3_region = "garage"
api_bind_addr = "127.0.0.1:${api}"
[admin]
api_bind_addr = "127.0.0.1:${admin}"
`,
    );
    const server = new GarageServer(configuration, `http://127.0.0.1:${api}`);
    await server.restart();
    const id = (await server.#ask('node', 'id', '-q')).split('@')[0]!.trim();
    await server.#ask('layout', 'assign', '-z', 'here', '-c', '1G', id);
    await server.#ask('layout', 'apply', '--version', '1');
    await server.#ask('key', 'import', '--yes', server.keyId, server.secret);
    return server;
  }

  private constructor(configuration: string, endpoint: string) {
    this.#configuration = configuration;
    this.endpoint = endpoint;
  }

  async bucket(name: string): Promise<void> {
    await this.#ask('bucket', 'create', name);
    await this.#ask('bucket', 'allow', '--read', '--write', name, '--key', this.keyId);
  }

  /** From then on it takes so many objects; undefined: any number. */
  async limit(bucket: string, objectsMax: number | undefined): Promise<void> {
    await this.#ask('bucket', 'set-quotas', bucket, '--max-objects', String(objectsMax ?? 'none'));
  }

  /** Settings of a server whose objects lie in a bucket. */
  settings(bucket: string): Record<string, string> {
    return {
      FARTHING_OBJECTS: `s3://${bucket}?endpoint=${this.endpoint}&region=garage`,
      FARTHING_OBJECTS_KEY_ID: this.keyId,
      FARTHING_OBJECTS_SECRET: this.secret,
    };
  }

  /** Stands still, as a store does that cannot be reached, until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async restart(): Promise<void> {
    this.#child = spawn(PROGRAM, ['-c', this.#configuration, 'server'], {
      stdio: 'ignore',
      env: { ...process.env, RUST_LOG: 'garage=error' },
    });
    await eventually(() => this.#ask('status').then(Boolean, () => false));
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async #ask(...words: string[]): Promise<string> {
    return (await run(PROGRAM, ['-c', this.#configuration, ...words])).stdout;
  }
}
