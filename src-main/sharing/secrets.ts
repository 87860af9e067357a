import { z } from 'zod';
import { SHARING_SECRETS, type SharingSecret } from '../../src-shared/contract/sharing.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Sharing } from '../../src-shared/sharing.ts';
import { messageOf } from '../platform/failure.ts';
import type { Keyring } from '../platform/keyring.ts';
import { StoredSecretSchema, SecretFile } from '../platform/secret-file.ts';
import { teamKey } from './encryption.ts';
import { SharingError } from './failures.ts';

/** docs/formats/sharing-secrets.md */
const FileSchema = z.object({
  version: z.literal(1),
  secrets: z.partialRecord(z.enum(SHARING_SECRETS), StoredSecretSchema),
});

export class SharingSecrets {
  readonly #file: SecretFile<z.infer<typeof FileSchema>>;

  constructor(path: string, keyring?: Keyring) {
    this.#file = new SecretFile({
      path,
      schema: FileSchema,
      keyring,
      what: 'The secret could not be stored',
    });
  }

  get path(): string {
    return this.#file.path;
  }

  /** How each secret that is set is stored. */
  state(): Partial<Record<SharingSecret, 'keyring' | 'file'>> {
    const secrets = this.#file.read()?.secrets ?? {};
    return Object.fromEntries(Object.entries(secrets).map(([name, { kept }]) => [name, kept]));
  }

  /** How a new one would be stored. */
  keeps(): Promise<'keyring' | 'file'> {
    return this.#file.keeps();
  }

  /** '' if there is none. SharingError if the file cannot be read, or the keyring cannot decrypt it. */
  async get(name: SharingSecret): Promise<string> {
    const one = this.#load()?.secrets[name];
    if (!one) return '';
    try {
      return await this.#file.unseal(one);
    } catch (error) {
      throw new SharingError('noKey', 'the keyring cannot decrypt it', { cause: error });
    }
  }

  /** The salt and key for names and values. SharingError also if values must be encrypted and the key is not here. */
  async ofTeam({
    encrypted,
  }: Pick<Sharing, 'encrypted'>): Promise<{ salt: string; key: Buffer | undefined }> {
    const [salt, password] = [await this.get('salt'), await this.get('encryptionKey')];
    if (password !== '') return { salt, key: await teamKey(password, salt) };
    if (encrypted) throw new SharingError('keyMissing', 'values are to be encrypted, and there is no key');
    return { salt, key: undefined };
  }

  /** Stores a secret; '' deletes it, and the last one deletes the file. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async set(name: SharingSecret, secret: string): Promise<void> {
    if (/[\r\n\0]/.test(secret))
      throw new KvasirError('BAD_ARGUMENT', 'A secret must not contain line breaks.');
    await this.#file.change(async (now) => {
      const secrets = new Map(Object.entries(now?.secrets ?? {}));
      if (secret === '') secrets.delete(name);
      else secrets.set(name, await this.#file.seal(secret));
      return secrets.size === 0 ? undefined : { version: 1, secrets: Object.fromEntries(secrets) };
    });
  }

  #load(): z.infer<typeof FileSchema> | undefined {
    try {
      return this.#file.load();
    } catch (error) {
      throw new SharingError('secrets', messageOf(error), { cause: error });
    }
  }
}
