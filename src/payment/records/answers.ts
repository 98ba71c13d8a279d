import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from '../purchase.ts';

/** Folders of Tenants' content; declared here, implemented by the Tenants of `shard`. */
export interface TenantFolders {
  /** Absolute path; the folder may not exist. */
  folder(tenant: string): string;
}

const FOLDER = 'answers';
const DIGEST_LENGTH = 64;
/** Tenants whose use of the budget is remembered; others are counted anew. */
const TENANTS_REMEMBERED_MAX = 4096;

/**
 * Paid answers, stored in their Tenant's folder (and so deleted with it) until their payer has surely received them. A file carries the
 * SHA-256 of its content, so a torn one counts as none. Retained best-effort within a budget: the gate can answer anew when a file is
 * missing.
 */
export class AnswerStore {
  readonly #tenants: TenantFolders;
  readonly #bytesPerTenantMax: number;
  readonly #used = new Map<string, number>();

  constructor({ tenants, bytesPerTenantMax }: { tenants: TenantFolders; bytesPerTenantMax: number }) {
    this.#tenants = tenants;
    this.#bytesPerTenantMax = bytesPerTenantMax;
  }

  /** Keeps or replaces an answer. False when it does not fit, or the Tenant has no folder (any more). */
  async keep(tenant: string, payment: string, answer: Answer): Promise<boolean> {
    const content = JSON.stringify({ status: answer.status, headers: answer.headers, body: answer.body });
    const file = digest(content) + content;
    const path = this.#path(tenant, payment);
    try {
      const bytes = Buffer.byteLength(file);
      let used = await this.#usedBytes(tenant);
      if (used + bytes > this.#bytesPerTenantMax) {
        // Replaced and removed files were counted as well: count anew before refusing.
        this.#used.delete(tenant);
        used = await this.#usedBytes(tenant);
      }
      if (used + bytes > this.#bytesPerTenantMax) return false;
      await replace(path, file);
      this.#remember(tenant, used + bytes);
      return true;
    } catch (error) {
      if (isMissing(error)) this.#used.delete(tenant);
      else if (!isFull(error)) throw error;
      return false;
    }
  }

  async find(tenant: string, payment: string): Promise<Answer | undefined> {
    try {
      const file = await readFile(this.#path(tenant, payment), 'utf8');
      const content = file.slice(DIGEST_LENGTH);
      return digest(content) === file.slice(0, DIGEST_LENGTH) ? (JSON.parse(content) as Answer) : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async remove(tenant: string, payment: string): Promise<void> {
    await rm(this.#path(tenant, payment), { force: true });
    this.#used.delete(tenant);
  }

  #path(tenant: string, payment: string): string {
    return join(this.#tenants.folder(tenant), FOLDER, digest(payment));
  }

  /** Bytes used; makes the folder, though never the Tenant's own: answers must not bring a disposed Tenant back. */
  async #usedBytes(tenant: string): Promise<number> {
    const known = this.#used.get(tenant);
    if (known !== undefined) return known;
    const folder = join(this.#tenants.folder(tenant), FOLDER);
    await mkdir(folder).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  #remember(tenant: string, bytes: number): void {
    if (this.#used.size >= TENANTS_REMEMBERED_MAX) this.#used.clear();
    this.#used.set(tenant, bytes);
  }
}

/** A reader sees the former content or the new one, whole. */
async function replace(path: string, content: string): Promise<void> {
  const temporary = `${path}.new`;
  await writeFile(temporary, content, { mode: 0o600 });
  await rename(temporary, path);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
}
