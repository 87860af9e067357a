import { isDeepStrictEqual } from 'node:util';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type {
  AddedToolServer,
  ListedTool,
  ToolList,
  ToolServer,
} from '../../../src-shared/contract/tools.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import { failureOf } from '../../platform/failure.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import type { CallableTool, ToolSource } from '../tool.ts';
import { addedServer, commandLine, shownUrl } from './added-server.ts';
import { ConfigFile } from './config-file.ts';
import { configError, parseEntries, parseServer, type ServerConfig } from './config.ts';
import { McpServer, type ServerLimits } from './mcp-server.ts';
import { Permissions } from './permissions.ts';
import { SignIns } from './sign-ins.ts';
import { toolName } from './tool-name.ts';

interface McpServersOptions {
  /** mcp.json. */
  config: string;
  /** Which tools are allowed. */
  permissions: string;
  /** Sign-ins to servers. */
  signIns: string;
  keyring: Keyring | undefined;
  /** Kvasir's. */
  version: string;
  events: Pick<EventBus, 'emit'>;
  log: Logger;
  limits?: Partial<ServerLimits>;
}

const LIMITS: ServerLimits = { startMs: 30_000, callMs: 300_000 };

/** A server in mcp.json: usable, or why its entry is not. */
type Entry = { name: string; enabled: boolean } & ({ server: McpServer } | { failure: KvasirError });

/** The MCP servers of mcp.json, which is read again at every use, and their tools. */
export class McpServers implements ToolSource {
  readonly #options: McpServersOptions;
  readonly #file: ConfigFile;
  readonly #permissions: Permissions;
  readonly #signIns: SignIns;
  readonly #servers = new Map<string, McpServer>();

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#file = new ConfigFile(options.config);
    this.#permissions = new Permissions(options.permissions, options.log);
    this.#signIns = new SignIns(options.signIns, options.keyring);
  }

  list(): Omit<ToolList, 'own'> {
    const file = this.#file.path;
    try {
      return { servers: this.#entries().map((entry) => this.#listed(entry)), file, failure: null };
    } catch (error) {
      return { servers: [], file, failure: failureOf(error) };
    }
  }

  async tools(signal: AbortSignal, servers: readonly string[]): Promise<CallableTool[]> {
    const entries = this.#usable().filter(({ name }) => servers.includes(name));
    await Promise.allSettled(entries.map(({ server }) => server.start(signal)));
    throwIfAborted(signal);
    const running = entries.filter(({ server }) => server.state === 'ready');
    return running.flatMap(({ name, server }) =>
      callable(server).map((tool) => ({
        name: toolName(name, tool.name),
        title: titleOf(tool),
        description: tool.description ?? '',
        parameters: tool.inputSchema,
        server: name,
        allowed: this.#permissions.of(name, server.config, tool) === 'allowed',
        run: (args, context) => server.call(tool.name, args, context.signal),
      })),
    );
  }

  allow(called: string): void {
    for (const { name, server } of this.#usable())
      for (const tool of callable(server))
        if (toolName(name, tool.name) === called) this.setAllowed(name, tool.name, true);
  }

  /** NOT_FOUND, STORE_READ_ONLY, DISK_FULL. */
  setAllowed(name: string, toolCalled: string, allowed: boolean): void {
    const server = this.#server(name);
    const tool = callable(server).find((each) => each.name === toolCalled);
    if (!tool) throw new KvasirError('NOT_FOUND', `${name} has no tool ${toolCalled}.`);
    this.#permissions.set(name, server.config, tool, allowed);
    this.#changed();
  }

  /** BAD_ARGUMENT, CONFLICT, MCP_CONFIG, STORE_READ_ONLY, DISK_FULL. */
  add(added: AddedToolServer): void {
    this.#file.add({ [added.name]: addedServer(added) });
    this.#changed();
  }

  /** Adds all servers of a text, or none. Returns their names. Errors as `add`. */
  import(text: string): string[] {
    const { entries } = parseEntries(text, 'The text');
    const names = Object.keys(entries);
    if (names.length === 0) throw configError('The text contains no servers.');
    for (const name of names) parseServer(entries[name], name);
    this.#file.add(entries);
    this.#changed();
    return names;
  }

  /** NOT_FOUND, MCP_CONFIG, STORE_READ_ONLY, DISK_FULL. */
  async remove(name: string): Promise<void> {
    this.#file.remove(name);
    this.#permissions.forget(name);
    await this.#signIns.forget(name);
    await this.#stop(name);
    this.#changed();
  }

  /** Errors as `remove`. */
  async enable(name: string, enabled: boolean): Promise<void> {
    this.#file.enable(name, enabled);
    if (!enabled) await this.#stop(name);
    this.#changed();
  }

  /** Ends when it is ready or has failed. NOT_FOUND. */
  async start(name: string): Promise<void> {
    await this.#server(name)
      .start()
      .catch(() => undefined); // its state says why
  }

  /** Ends when the person has signed in on its `signInPage` and it is ready, or has failed. NOT_FOUND. */
  async signIn(name: string): Promise<void> {
    await this.#server(name)
      .signIn()
      .catch(() => undefined); // its state says why
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((name) => this.#stop(name)));
  }

  /** What mcp.json says now. Servers whose entry was changed or removed are stopped. MCP_CONFIG. */
  #entries(): Entry[] {
    const { entries, path } = this.#file.read();
    const all = Object.entries(entries).map(([name, entry]): Entry => {
      const enabled = (entry as { disabled?: unknown } | null)?.disabled !== true;
      try {
        const config = parseServer(entry, `mcp.json: ${[...path, name].join('.')}`);
        return { name, enabled, server: this.#current(name, config) };
      } catch (error) {
        if (error instanceof KvasirError) return { name, enabled, failure: error };
        throw error;
      }
    });
    for (const name of this.#servers.keys())
      if (!all.some((entry) => entry.name === name && entry.enabled && 'server' in entry))
        void this.#stop(name);
    return all;
  }

  /** The server with this configuration: the same as before, or a new one. */
  #current(name: string, config: ServerConfig): McpServer {
    const known = this.#servers.get(name);
    if (known && isDeepStrictEqual(known.config, config)) return known;
    if (known) void this.#stop(name);
    const { version, log } = this.#options;
    const limits = { ...LIMITS, ...this.#options.limits };
    const onChange = (): void => this.#changed();
    const signIns = this.#signIns;
    const server = new McpServer({ name, config, version, limits, log, signIns, onChange });
    this.#servers.set(name, server);
    return server;
  }

  /** None if mcp.json is unusable, which the settings show. */
  #usable(): { name: string; server: McpServer }[] {
    try {
      return this.#entries().flatMap((entry) =>
        'server' in entry && entry.enabled ? [{ name: entry.name, server: entry.server }] : [],
      );
    } catch {
      return [];
    }
  }

  #server(name: string): McpServer {
    const found = this.#usable().find((entry) => entry.name === name);
    if (found) return found.server;
    throw new KvasirError('NOT_FOUND', `There is no enabled server named ${name}.`);
  }

  async #stop(name: string): Promise<void> {
    const server = this.#servers.get(name);
    this.#servers.delete(name);
    await server?.close();
  }

  #listed(entry: Entry): ToolServer {
    const { name, enabled } = entry;
    if ('failure' in entry) {
      const nothing = { command: null, url: null, secrets: [], tools: [] };
      const failure = failureOf(entry.failure);
      return { name, enabled, ...nothing, state: 'failed', failure, signInPage: null };
    }
    const { config, state, failure } = entry.server;
    const isCommand = 'command' in config;
    return {
      name,
      enabled,
      command: isCommand ? commandLine(config) : null,
      url: isCommand ? null : shownUrl(config.url),
      secrets: Object.keys(isCommand ? config.env : config.headers),
      state,
      failure: failure ? failureOf(failure) : null,
      signInPage: entry.server.signInPage ?? null,
      tools: callable(entry.server).map((tool) => this.#listedTool(name, config, tool)),
    };
  }

  #listedTool(server: string, config: ServerConfig, tool: Tool): ListedTool {
    const permission = this.#permissions.of(server, config, tool);
    return {
      name: tool.name,
      title: titleOf(tool),
      description: tool.description ?? '',
      allowed: permission === 'allowed',
      changed: permission === 'changed',
    };
  }

  #changed(): void {
    this.#options.events.emit('tools.changed', {});
  }
}

/** The first tool of each name. Not those that only run as tasks, an experiment of the protocol. */
function callable(server: McpServer): Tool[] {
  const byName = new Map(server.tools.toReversed().map((tool) => [tool.name, tool]));
  return [...byName.values()].toReversed().filter(({ execution }) => execution?.taskSupport !== 'required');
}

function titleOf({ title, annotations, name }: Tool): string {
  return title ?? annotations?.title ?? name;
}
