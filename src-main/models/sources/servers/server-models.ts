import { randomUUID } from 'node:crypto';
import type { AddedServer, ListedServer, ServerFacts } from '../../../../src-shared/contract/servers.ts';
import { reachOf } from '../../../../src-shared/reach.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { failureOf } from '../../../platform/failure.ts';
import type { Keyring } from '../../../platform/keyring.ts';
import { modelName } from '../../registry/entry.ts';
import type { KnownModels } from '../../registry/known-models.ts';
import type { ModelRegistry, ModelRow } from '../../registry/model-registry.ts';
import { namedRole } from '../../registry/named-role.ts';
import { RemoteClient } from './client.ts';
import { serverAddress, type RemoteServer } from './server-address.ts';
import { requireKey, ServerKeys } from './server-keys.ts';
import { serverHeader, ServerModel, type RemoteOutcome } from './server-model.ts';

/** A row of the list for a model on a server. */
type ServerRow = ModelRow & { server: RemoteServer };

interface ServerModelsOptions {
  registry: ModelRegistry;
  known: KnownModels;
  keysFile: string;
  keyring?: Keyring | undefined;
}

export function isOnServer(row: ModelRow): row is ServerRow {
  return row.server !== null;
}

/** Models on servers with an OpenAI-compatible API: the list, their keys, and their request outcomes. */
export class ServerModels {
  readonly #options: ServerModelsOptions;
  readonly #keys: ServerKeys;
  /** Most recent time to first token, in milliseconds. */
  readonly #ttft = new Map<string, number>();

  constructor(options: ServerModelsOptions) {
    this.#options = options;
    this.#keys = new ServerKeys({ path: options.keysFile, keyring: options.keyring });
  }

  /** Lists a server's models, without those that cannot chat by their names. Sends only that request, and the key. BAD_ARGUMENT, REMOTE_*. */
  async ask(address: string, key: string): Promise<ListedServer> {
    const asked = serverAddress(address);
    if (key !== '') requireKey(key);
    const client = new RemoteClient({ address: asked, key: () => Promise.resolve(key) });
    const models = await client.models();
    return { address: asked, models: models.filter(({ id }) => namedRole(id) === undefined) };
  }

  /**
   * Adds a model, or updates the one with the same address and name. Returns its id. BAD_ARGUMENT, STORE_READ_ONLY,
   * DISK_FULL.
   */
  async add({ key, ...server }: AddedServer): Promise<string> {
    const { registry } = this.#options;
    const row: RemoteServer = { ...server, address: serverAddress(server.address) };
    const path = `${row.address}#${row.model}`;
    const id = registry.byPath(path)?.id ?? randomUUID();
    if (key !== '') await this.#keys.set(id, row.address, key);
    registry.put({ id, path, origin: 'imported', mtimeMs: 0, header: serverHeader(row) });
    registry.setServer(id, row);
    this.#options.known.changed();
    return id;
  }

  /**
   * Finds a model by its name in the list, or by address#model. MODEL_NOT_FOUND for an unknown address; undefined if it
   * is not an address.
   */
  find(name: string): ServerRow | undefined {
    const rows = this.#options.registry.all().filter(isOnServer);
    const row = rows.find((each) => each.path === name || modelName(each) === name);
    if (row || !/^https?:\/\//i.test(name)) return row;
    throw new KvasirError(
      'MODEL_NOT_FOUND',
      `Model not found: ${name}.`,
      'Add it on the Models screen; `model list` then shows its name.',
    );
  }

  /** '' deletes the key. BAD_ARGUMENT, STORE_READ_ONLY, DISK_FULL. */
  async setKey({ id, server }: ServerRow, key: string): Promise<void> {
    await this.#keys.set(id, server.address, key);
    this.#options.known.changed();
  }

  async removed(id: string, address: string): Promise<void> {
    this.#ttft.delete(id);
    await this.#keys.set(id, address, '');
  }

  load({ id, server }: ServerRow): ServerModel {
    return new ServerModel(server, {
      key: () => this.#keys.get(id, server.address),
      onOutcome: (outcome) => this.#note(id, outcome),
    });
  }

  /** Data shown in lists; never the key. */
  facts({ id, server, writtenPerSecond }: ServerRow): ServerFacts {
    const { host, hostname, protocol } = new URL(server.address);
    return {
      ...server,
      host,
      reach: reachOf(hostname),
      secure: protocol === 'https:',
      key: this.#keys.kept(id),
      ttftMs: this.#ttft.get(id) ?? null,
      tokensPerSecond: writtenPerSecond,
    };
  }

  /** Called after each request to a model's server; a failure is shown on the model's entry. */
  #note(id: string, { failure, ttftMs, tokensPerSecond }: RemoteOutcome): void {
    const { known, registry } = this.#options;
    if (ttftMs !== undefined) this.#ttft.set(id, ttftMs);
    if (failure) known.trouble.set(id, { state: 'ready', failure: failureOf(failure) });
    else known.trouble.delete(id);
    if (tokensPerSecond !== undefined) registry.setSpeed(id, 'writtenPerSecond', tokensPerSecond);
    known.changed();
  }
}
