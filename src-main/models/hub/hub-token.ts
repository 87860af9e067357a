import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import { reachOf } from '../../../src-shared/reach.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { KeptSchema, SecretFile } from '../../platform/secret-file.ts';

/** docs/formats/hub-token.md */
const FileSchema = z.object({
  version: z.literal(1),
  origin: z.url(),
  kept: KeptSchema,
  /** Base64 of what the keyring's key encrypted; by itself where there is none. */
  token: z.string(),
});

interface HubTokenOptions {
  path: string;
  keyring?: Keyring | undefined;
}

/** The token for a hub: one, for one origin (scheme, host and port), and given to requests to that alone. */
export class HubToken {
  readonly #file: SecretFile<z.infer<typeof FileSchema>>;

  constructor(options: HubTokenOptions) {
    this.#file = new SecretFile({ ...options, schema: FileSchema, what: 'The token could not be kept' });
  }

  get path(): string {
    return this.#file.path;
  }

  /** Where the one for a hub is kept, and where a new one would be. */
  async state(address: string): Promise<{ token: 'none' | 'keyring' | 'file'; keeps: 'keyring' | 'file' }> {
    const file = this.#file.read();
    const mine = file && file.origin === new URL(address).origin;
    return { token: mine ? file.kept : 'none', keeps: await this.#file.keeps() };
  }

  /** Headers for a request: with the token when it goes to the origin that the token is for. */
  async headers(url: string): Promise<Record<string, string>> {
    const file = this.#file.read();
    if (!file || file.origin !== new URL(url).origin) return {};
    return { authorization: `Bearer ${await this.#open(file)}` };
  }

  /** Keeps a token for a hub; '' forgets the one there is. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async set(address: string, token: string): Promise<void> {
    if (token === '') return this.#file.change(() => Promise.resolve(undefined));
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new KvasirError('BAD_ARGUMENT', 'A token has no spaces and no letters beyond ASCII.');
    }
    const { origin, protocol, hostname } = new URL(address);
    if (protocol !== 'https:' && reachOf(hostname) !== 'here') {
      throw new KvasirError(
        'BAD_ARGUMENT',
        `A token for ${origin} would be sent without encryption, where others can read it.`,
        'Give the address of the hub in the settings with https://.',
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
        'The token for the hub cannot be read: the keyring that it was encrypted with is not at hand.',
        'Enter the token again on the Discover screen.',
        { cause: error },
      );
    }
  }
}
