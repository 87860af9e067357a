import { z } from 'zod';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { reachOf } from '../../../../src-shared/reach.ts';
import type { Keyring } from '../../../platform/keyring.ts';
import { SecretStorageSchema, SecretFile } from '../../../platform/secret-file.ts';

/** docs/formats/hub-token.md */
const FileSchema = z.object({
  version: z.literal(1),
  origin: z.url(),
  kept: SecretStorageSchema,
  /** Base64 of the token encrypted with the keyring's key; plain if there is no keyring. */
  token: z.string(),
});

interface HubTokenOptions {
  path: string;
  keyring?: Keyring | undefined;
}

/** The token for a hub: a single token, sent only to one origin (scheme, host and port). */
export class HubToken {
  readonly #file: SecretFile<z.infer<typeof FileSchema>>;

  constructor({ path, keyring }: HubTokenOptions) {
    const what = 'The token could not be stored';
    this.#file = new SecretFile({ path, keyring, schema: FileSchema, what });
  }

  get path(): string {
    return this.#file.path;
  }

  /** Where the hub's token is stored, and where a new one would be. */
  async state(address: string): Promise<{ token: 'none' | 'keyring' | 'file'; keeps: 'keyring' | 'file' }> {
    const file = this.#file.read();
    const mine = file && file.origin === new URL(address).origin;
    return { token: mine ? file.kept : 'none', keeps: await this.#file.keeps() };
  }

  /** Request headers, including the token if the URL has the token's origin. */
  async headers(url: string): Promise<Record<string, string>> {
    const file = this.#file.read();
    if (!file || file.origin !== new URL(url).origin) return {};
    return { authorization: `Bearer ${await this.#open(file)}` };
  }

  /** Stores a token for a hub; '' deletes it. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async set(address: string, token: string): Promise<void> {
    if (token === '') return this.#file.change(() => Promise.resolve(undefined));
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new KvasirError('BAD_ARGUMENT', 'A token must be ASCII without spaces.');
    }
    const { origin, protocol, hostname } = new URL(address);
    if (protocol !== 'https:' && reachOf(hostname) !== 'here') {
      throw new KvasirError(
        'BAD_ARGUMENT',
        `The token for ${origin} would be sent unencrypted.`,
        'Use an https:// URL for the hub in the settings.',
      );
    }
    await this.#file.change(async () => {
      const { kept, secret } = await this.#file.seal(token);
      return { version: 1, origin, kept, token: secret };
    });
  }

  async #open({ kept, token }: z.infer<typeof FileSchema>): Promise<string> {
    try {
      return await this.#file.unseal({ kept, secret: token });
    } catch (error) {
      throw new KvasirError(
        'HUB_TOKEN',
        'The hub token cannot be read: the keyring it was encrypted with is not available.',
        'Enter the token again on the Discover screen.',
        { cause: error },
      );
    }
  }
}
