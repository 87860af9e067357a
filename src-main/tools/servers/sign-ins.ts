import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { z } from 'zod';
import type { Keyring } from '../../platform/keyring.ts';
import { SecretFile, StoredSecretSchema } from '../../platform/secret-file.ts';

/** docs/formats/mcp-sign-ins.md */
const FileSchema = z.object({
  version: z.literal(1),
  /** By the server's name in mcp.json. */
  servers: z.record(z.string(), StoredSecretSchema.extend({ url: z.string() })),
});

type File = z.infer<typeof FileSchema>;

/** Kvasir as a client of an authorization server, and its tokens. */
export interface Grant {
  client?: OAuthClientInformationMixed;
  tokens?: OAuthTokens;
  /** The rights that it asked for last, when the tokens did not do: the next sign-in asks for them, too. */
  scope?: string;
}

/** Sign-ins to MCP servers: each is used with the address that it was made for. */
export class SignIns {
  readonly #file: SecretFile<File>;

  constructor(path: string, keyring: Keyring | undefined) {
    const what = 'The sign-in could not be stored';
    this.#file = new SecretFile({ path, keyring, schema: FileSchema, what });
  }

  has(server: string, url: string): boolean {
    return this.#entry(server)?.url === url;
  }

  /** Empty if there is none, or the keyring is not available. */
  async get(server: string, url: string): Promise<Grant> {
    const entry = this.#entry(server);
    if (entry?.url !== url) return {};
    try {
      return JSON.parse(await this.#file.unseal(entry)) as Grant;
    } catch {
      return {};
    }
  }

  /** STORE_READ_ONLY, DISK_FULL. */
  async set(server: string, url: string, grant: Grant): Promise<void> {
    const secret = await this.#file.seal(JSON.stringify(grant));
    await this.#change(server, { url, ...secret });
  }

  /** STORE_READ_ONLY, DISK_FULL. */
  async forget(server: string): Promise<void> {
    if (this.#entry(server)) await this.#change(server, undefined);
  }

  #entry(server: string): File['servers'][string] | undefined {
    return new Map(Object.entries(this.#file.read()?.servers ?? {})).get(server);
  }

  #change(server: string, entry: File['servers'][string] | undefined): Promise<void> {
    return this.#file.change((now) => {
      const servers = new Map(Object.entries(now?.servers ?? {}));
      if (entry) servers.set(server, entry);
      else servers.delete(server);
      return Promise.resolve({ version: 1, servers: Object.fromEntries(servers) });
    });
  }
}
