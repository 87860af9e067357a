import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import { reachOf } from '../../../src-shared/reach.ts';
import type { Keyring } from '../../platform/keyring.ts';
import { keepsIn, seal, unseal, writePrivate } from '../../platform/secrets.ts';

/** docs/formats/hub-token.md */
const FileSchema = z.object({
  version: z.literal(1),
  origin: z.url(),
  kept: z.enum(['keyring', 'file']),
  /** Base64 of what the keyring's key encrypted; by itself where there is none. */
  token: z.string(),
});

interface HubTokenOptions {
  path: string;
  keyring?: Keyring | undefined;
}

/**
 * The token for a hub: one, for one origin (scheme, host and port), and given to requests to that alone. It lies in a file of its own that
 * only its user can read, encrypted where the system has a keyring; never in settings, backups, databases or the log.
 */
export class HubToken {
  readonly path: string;
  readonly #keyring: Keyring | undefined;

  constructor({ path, keyring }: HubTokenOptions) {
    this.path = path;
    this.#keyring = keyring;
  }

  /** Where the one for a hub is kept, and where a new one would be. */
  async state(address: string): Promise<{ token: 'none' | 'keyring' | 'file'; keeps: 'keyring' | 'file' }> {
    const file = this.#read();
    const mine = file && file.origin === new URL(address).origin;
    return { token: mine ? file.kept : 'none', keeps: await keepsIn(this.#keyring) };
  }

  /** Headers for a request: with the token when it goes to the origin that the token is for. */
  async headers(url: string): Promise<Record<string, string>> {
    const file = this.#read();
    if (!file || file.origin !== new URL(url).origin) return {};
    return { authorization: `Bearer ${await this.#open(file)}` };
  }

  /** Keeps a token for a hub; '' forgets the one there is. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async set(address: string, token: string): Promise<void> {
    if (token === '') return rm(this.path, { force: true });
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
    const { kept, secret } = await seal(token, this.#keyring);
    const file: z.infer<typeof FileSchema> = { version: 1, origin, kept, token: secret };
    await writePrivate(this.path, JSON.stringify(file), 'The token could not be kept');
  }

  async #open({ kept, token }: z.infer<typeof FileSchema>): Promise<string> {
    try {
      return await unseal({ kept, secret: token }, this.#keyring);
    } catch (error) {
      throw new KvasirError(
        'HUB_TOKEN',
        'The token for the hub cannot be read: the keyring that it was encrypted with is not at hand.',
        'Enter the token again on the Discover screen.',
        { cause: error },
      );
    }
  }

  /** A file that is missing or cannot be read: there is no token. */
  #read(): z.infer<typeof FileSchema> | undefined {
    try {
      return FileSchema.parse(JSON.parse(readFileSync(this.path, 'utf8')));
    } catch {
      return undefined;
    }
  }
}
