import { z } from 'zod';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { Keyring } from '../../../platform/keyring.ts';
import { StoredSecretSchema, SecretFile } from '../../../platform/secret-file.ts';

/** docs/formats/server-keys.md */
const FileSchema = z.object({
  version: z.literal(1),
  /** By model id. */
  keys: z.record(z.string(), StoredSecretSchema.extend({ origin: z.string() })),
});

interface ServerKeysOptions {
  path: string;
  keyring?: Keyring | undefined;
}

/** Keys for remote models: each belongs to one model in the list and is sent only to its server's origin. */
export class ServerKeys {
  readonly #file: SecretFile<z.infer<typeof FileSchema>>;

  constructor({ path, keyring }: ServerKeysOptions) {
    const what = 'The key could not be stored';
    this.#file = new SecretFile({ path, keyring, schema: FileSchema, what });
  }

  /** Where a model's key is stored. */
  kept(id: string): 'none' | 'keyring' | 'file' {
    return this.#file.read()?.keys[id]?.kept ?? 'none';
  }

  /** A model's key for requests to this address; '' if there is none. REMOTE_KEY. */
  async get(id: string, address: string): Promise<string> {
    const key = this.#file.read()?.keys[id];
    if (!key || key.origin !== new URL(address).origin) return '';
    try {
      return await this.#file.unseal(key);
    } catch {
      throw new KvasirError(
        'REMOTE_KEY',
        'The key cannot be read: the keyring it was encrypted with is not available.',
        'Enter the model’s key again on the Models screen.',
      );
    }
  }

  /** Stores a model's key; '' deletes it. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async set(id: string, address: string, key: string): Promise<void> {
    if (key === '' && this.kept(id) === 'none') return;
    if (key !== '') requireKey(key);
    await this.#file.change(async (now) => {
      const keys = new Map(Object.entries(now?.keys ?? {}));
      if (key === '') keys.delete(id);
      else keys.set(id, { origin: new URL(address).origin, ...(await this.#file.seal(key)) });
      return { version: 1, keys: Object.fromEntries(keys) };
    });
  }
}

/** A key is sent in a header. BAD_ARGUMENT. */
export function requireKey(key: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  throw new KvasirError('BAD_ARGUMENT', 'A key must be ASCII without spaces.');
}
