import { homedir } from 'node:os';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ListToolsResultSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { unlessAborted } from '../../platform/abort.ts';
import { configError, expand, type CommandConfig, type ServerConfig, type UrlConfig } from './config.ts';
import { BrowserSignIn, type SignIn } from './sign-in.ts';

interface ConnectionOptions {
  /** Kvasir's. */
  version: string;
  signal: AbortSignal;
  onClose: (connection: Connection) => void;
  onToolsChanged: () => void;
  /** The program wrote to stderr. */
  onStderr: (text: string) => void;
  /** For servers at an address without headers: those would go to the authorization server, too. */
  signIn: SignIn | undefined;
}

/** A list that does not end is a server's mistake. */
const MOST_PAGES = 100;

/**
 * A session with an MCP server by the official SDK, which is large: load this file only when a server is used. Kvasir
 * offers servers neither sampling nor elicitation nor roots.
 */
export class Connection {
  /** As they were when it was opened. */
  readonly tools: readonly Tool[];
  readonly #client: Client;

  constructor(client: Client, tools: readonly Tool[]) {
    this.#client = client;
    this.tools = tools;
  }

  /** Rejects with the SDK's and Node's errors; MCP_CONFIG, MCP_SIGN_IN, ABORTED. */
  static async open(config: ServerConfig, options: ConnectionOptions): Promise<Connection> {
    if ('command' in config) return connect(programTransport(config, options), options);
    const { url, init } = requestOf(config, options);
    // oxlint-disable-next-line typescript/no-deprecated -- servers of 2024-11-05 know nothing else
    const sse = (): HttpTransport => new SSEClientTransport(url, init);
    const http = (): HttpTransport => new StreamableHTTPClientTransport(url, init);
    try {
      return await connectSignedIn(config.type === 'sse' ? sse : http, options);
    } catch (error) {
      if (config.type === 'sse' || !isOldServer(error)) throw error;
      return connectSignedIn(sse, options).catch(() => {
        throw error;
      });
    }
  }

  listTools(signal: AbortSignal): Promise<Tool[]> {
    return listTools(this.#client, signal);
  }

  /** `ms`: longest time without progress. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, ms }: { signal: AbortSignal; ms: number },
  ): Promise<CallToolResult> {
    const request = { method: 'tools/call' as const, params: { name, arguments: { ...args } } };
    const onprogress = (): void => undefined; // servers report progress only to those who listen
    const options = { signal, timeout: ms, resetTimeoutOnProgress: true, onprogress };
    return this.#client.request(request, CallToolResultSchema, options);
  }

  /** Ends the program: by closing its stdin, and after 2 s by signals. */
  close(): Promise<void> {
    return this.#client.close();
  }
}

type HttpTransport = Transport & { finishAuth: (code: string) => Promise<void> };

/** Connects, and once more after the person has signed in: servers ask for that at once, or when their tools are listed. */
async function connectSignedIn(make: () => HttpTransport, options: ConnectionOptions): Promise<Connection> {
  const { signIn, signal } = options;
  const transport = make();
  try {
    return await connect(transport, options);
  } catch (error) {
    if (!(error instanceof UnauthorizedError && signIn instanceof BrowserSignIn)) throw error;
    await transport.finishAuth(await unlessAborted(signIn.code, signal));
    return connect(make(), options);
  }
}

async function connect(
  transport: Transport,
  { version, signal, onClose, onToolsChanged }: ConnectionOptions,
): Promise<Connection> {
  const client = new Client(
    { name: 'kvasir', title: 'Kvasir', version },
    { listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } } },
  );
  try {
    await unlessAborted(client.connect(transport), signal); // a client may not cancel this request
    const tools = await unlessAborted(listTools(client, signal), signal);
    const connection = new Connection(client, tools);
    client.onclose = () => onClose(connection);
    return connection;
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function listTools(client: Client, signal: AbortSignal): Promise<Tool[]> {
  const tools: Tool[] = [];
  if (!client.getServerCapabilities()?.tools) return tools;
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const request = { method: 'tools/list' as const, params: cursor === undefined ? {} : { cursor } };
    // Not Client.listTools: it compiles a validator for each tool's output, which the model does not need.
    const result = await client.request(request, ListToolsResultSchema, { signal });
    tools.push(...result.tools);
    cursor = result.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

function programTransport(config: CommandConfig, { onStderr }: ConnectionOptions): Transport {
  const transport = new StdioClientTransport({
    command: expand(config.command, 'command'),
    args: config.args.map((arg) => expand(arg, 'args')),
    env: expandAll(config.env, 'env'),
    cwd: config.cwd === undefined ? homedir() : expand(config.cwd, 'cwd'),
    stderr: 'pipe',
  });
  transport.stderr?.on('data', (data: Buffer) => onStderr(data.toString()));
  return transport;
}

function requestOf({ url, headers }: UrlConfig, { signIn }: ConnectionOptions) {
  const address = URL.parse(expand(url, 'url'));
  if (!address || !/^https?:$/.test(address.protocol)) throw configError('url is not an http(s) address.');
  return {
    url: address,
    init: {
      requestInit: { headers: expandAll(headers, 'headers') },
      ...(signIn && { authProvider: signIn }),
    },
  };
}

function expandAll(values: Readonly<Record<string, string>>, where: string): Record<string, string> {
  const expanded = Object.entries(values).map(([name, value]) => [name, expand(value, `${where}.${name}`)]);
  return Object.fromEntries(expanded) as Record<string, string>;
}

/** Whether a server may speak the transport of 2024-11-05, as the specification says how to tell. */
function isOldServer(error: unknown): boolean {
  return [400, 404, 405].includes(Number((error as { code?: unknown }).code));
}
