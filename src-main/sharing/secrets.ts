import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { SHARING_SECRETS, type SharingSecret } from '../../src-shared/contract/sharing.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Keyring } from '../platform/keyring.ts';
import { fileError } from '../platform/paths.ts';
import { keepsIn, seal, unseal, writePrivate } from '../platform/secrets.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { SharingError } from './failures.ts';

const SecretSchema = z.object({
  kept: z.enum(['keyring', 'file']),
  /** Base64 of what the keyring's key encrypted; by itself where there is none. */
  secret: z.string(),
});

/** docs/formats/sharing-secrets.md */
const FileSchema = z.object({
  version: z.literal(1),
  secrets: z.partialRecord(z.enum(SHARING_SECRETS), SecretSchema),
});

type Kept = z.infer<typeof FileSchema>['secrets'];

/**
 * The secrets of the shared cache. They lie in a file of their own that only its user can read, each encrypted where the system has a
 * keyring; never in settings, backups, exports, databases or the log.
 */
export class SharingSecrets {
  readonly path: string;
  readonly #keyring: Keyring | undefined;
  readonly #changes = new SerialQueue();

  constructor(path: string, keyring?: Keyring) {
    this.path = path;
    this.#keyring = keyring;
  }

  /** How each that is set is kept. */
  state(): Partial<Record<SharingSecret, 'keyring' | 'file'>> {
    return Object.fromEntries(Object.entries(this.#read()).map(([name, { kept }]) => [name, kept]));
  }

  /** How a new one would be kept. */
  async keeps(): Promise<'keyring' | 'file'> {
    return keepsIn(this.#keyring);
  }

  /** '' where there is none. SharingError when the keyring cannot decrypt it. */
  async get(name: SharingSecret): Promise<string> {
    const one = this.#read()[name];
    if (!one) return '';
    try {
      return await unseal(one, this.#keyring);
    } catch (error) {
      throw new SharingError('noKey', 'the keyring cannot decrypt it', { cause: error });
    }
  }

  /** Keeps one; '' forgets it. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  set(name: SharingSecret, secret: string): Promise<void> {
    return this.#changes.run(async () => {
      const others: Kept = Object.fromEntries(Object.entries(this.#read()).filter(([one]) => one !== name));
      if (secret === '') return this.#write(others);
      if (/[\r\n\0]/.test(secret)) throw new KvasirError('BAD_ARGUMENT', 'A secret has no line breaks.');
      return this.#write({ ...others, [name]: await seal(secret, this.#keyring) });
    });
  }

  /** A file that is missing or cannot be read: there are none. */
  #read(): Kept {
    try {
      return FileSchema.parse(JSON.parse(readFileSync(this.path, 'utf8'))).secrets;
    } catch {
      return {};
    }
  }

  async #write(secrets: Kept): Promise<void> {
    const what = 'The secret could not be kept';
    if (Object.keys(secrets).length === 0) {
      await rm(this.path, { force: true }).catch((error: unknown) => {
        throw fileError(error, what);
      });
      return;
    }
    const file: z.infer<typeof FileSchema> = { version: 1, secrets };
    await writePrivate(this.path, JSON.stringify(file), what);
  }
}
