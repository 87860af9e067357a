import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Keyring } from './keyring.ts';
import { fileError } from './paths.ts';
import { SerialQueue } from './serial-queue.ts';

export const SecretStorageSchema = z.enum(['keyring', 'file']);

/** A stored secret: Base64 of the text encrypted with the keyring's key, or of plain text if there is no keyring. */
export const StoredSecretSchema = z.object({ kept: SecretStorageSchema, secret: z.string() });

type SecretStorage = z.infer<typeof SecretStorageSchema>;
type StoredSecret = z.infer<typeof StoredSecretSchema>;

interface SecretFileOptions<F> {
  path: string;
  schema: z.ZodType<F>;
  /** The system's keyring; undefined if the host has none. */
  keyring?: Keyring | undefined;
  /** Error message for a failed write, without a full stop. */
  what: string;
}

/**
 * Secrets in a separate file that only its user can read, each encrypted if the system has a keyring; never in
 * settings, backups, exports, databases or the log. The owner decides what else is in the file.
 */
export class SecretFile<F> {
  readonly path: string;
  readonly #options: SecretFileOptions<F>;
  readonly #changes = new SerialQueue();

  constructor(options: SecretFileOptions<F>) {
    this.path = options.path;
    this.#options = options;
  }

  /** undefined: it does not exist. Throws if it exists but cannot be read. */
  load(): F | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return this.#options.schema.parse(JSON.parse(text));
  }

  /** undefined: it does not exist or cannot be read. */
  read(): F | undefined {
    try {
      return this.load();
    } catch {
      return undefined;
    }
  }

  /**
   * Replaces the content with the result of `make`, one change after another; undefined deletes the file. An unreadable
   * file is set aside as <path>.corrupt-<time>. STORE_READ_ONLY, DISK_FULL, and errors of `make`.
   */
  change(make: (now: F | undefined) => Promise<F | undefined>): Promise<void> {
    return this.#changes.run(async () => {
      const content = await make(this.read());
      try {
        if (!this.#isReadable()) await rename(this.path, `${this.path}.corrupt-${Date.now()}`);
        if (content === undefined) await rm(this.path, { force: true });
        else await writePrivate(this.path, JSON.stringify(content));
      } catch (error) {
        throw fileError(error, this.#options.what);
      }
    });
  }

  #isReadable(): boolean {
    try {
      this.load();
      return true;
    } catch {
      return false;
    }
  }

  /** How a new secret would be stored: an insecure keyring counts as none. */
  async keeps(): Promise<SecretStorage> {
    const { keyring } = this.#options;
    return ((await keyring?.available().catch(() => false)) ?? false) ? 'keyring' : 'file';
  }

  async seal(secret: string): Promise<StoredSecret> {
    const { keyring } = this.#options;
    const kept = await this.keeps();
    if (kept === 'file' || !keyring) return { kept: 'file', secret };
    return { kept, secret: (await keyring.encrypt(secret)).toString('base64') };
  }

  /** Rejects if the keyring it was encrypted with is not available. */
  async unseal({ kept, secret }: StoredSecret): Promise<string> {
    const { keyring } = this.#options;
    if (kept === 'file') return secret;
    if (!keyring) throw new Error('there is no keyring');
    return keyring.decrypt(Buffer.from(secret, 'base64'));
  }
}

/** Writes the file atomically. */
async function writePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true }); // an existing file would keep its permissions
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path);
}
