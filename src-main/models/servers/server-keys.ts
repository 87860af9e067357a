import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { seal, unseal, writePrivate } from '../../platform/secrets.ts';
import { SerialQueue } from '../../platform/serial-queue.ts';

/** docs/formats/server-keys.md */
const FileSchema = z.object({
  version: z.literal(1),
  /** By id in the list of models. */
  keys: z.record(
    z.string(),
    z.object({ origin: z.string(), kept: z.enum(['keyring', 'file']), secret: z.string() }),
  ),
});

type Keys = z.infer<typeof FileSchema>['keys'];

interface ServerKeysOptions {
  path: string;
  keyring?: Keyring | undefined;
}

/**
 * Keys for servers that models are on: each for one model of the list, and given to requests to its origin alone. They lie in a file of
 * their own that only its user can read, encrypted where the system has a keyring; never in settings, backups, databases or the log.
 */
export class ServerKeys {
  readonly #path: string;
  readonly #keyring: Keyring | undefined;
  readonly #queue = new SerialQueue();

  constructor({ path, keyring }: ServerKeysOptions) {
    this.#path = path;
    this.#keyring = keyring;
  }

  /** Where a model's key is kept. */
  kept(id: string): 'none' | 'keyring' | 'file' {
    return this.#read()[id]?.kept ?? 'none';
  }

  /** A model's key for requests to this address; '' where there is none. REMOTE_KEY. */
  async get(id: string, address: string): Promise<string> {
    const key = this.#read()[id];
    if (!key || key.origin !== new URL(address).origin) return '';
    try {
      return await unseal(key, this.#keyring);
    } catch {
      throw new KvasirError(
        'REMOTE_KEY',
        'The key cannot be read: the keyring that it was encrypted with is not at hand.',
        'Give the model’s key once more on the Models screen.',
      );
    }
  }

  /** Keeps a model's key; '' forgets it. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  set(id: string, address: string, key: string): Promise<void> {
    return this.#queue.run(async () => {
      const { [id]: old, ...keys } = this.#read();
      if (key === '' && !old) return;
      if (key !== '')
        keys[id] = { origin: new URL(address).origin, ...(await seal(requireKey(key), this.#keyring)) };
      const file: z.infer<typeof FileSchema> = { version: 1, keys };
      await writePrivate(this.#path, JSON.stringify(file), 'The key could not be kept');
    });
  }

  /** A file that is missing or cannot be read: there are no keys. */
  #read(): Keys {
    try {
      return FileSchema.parse(JSON.parse(readFileSync(this.#path, 'utf8'))).keys;
    } catch {
      return {};
    }
  }
}

/** A key goes into a header. BAD_ARGUMENT. */
export function requireKey(key: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  throw new KvasirError('BAD_ARGUMENT', 'A key has no spaces and no letters beyond ASCII.');
}
