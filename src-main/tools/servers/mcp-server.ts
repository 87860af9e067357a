import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ToolServer } from '../../../src-shared/contract/tools.ts';
import type { KvasirError } from '../../../src-shared/errors.ts';
import { throwIfAborted, unlessAborted } from '../../platform/abort.ts';
import { messageOf } from '../../platform/failure.ts';
import type { Logger } from '../../platform/logger.ts';
import type { ToolResult } from '../tool.ts';
import type { ServerConfig } from './config.ts';
import type { Connection } from './connection.ts';
import { exitError, scrub, serverError, slowError, type ServerContext } from './failures.ts';
import { resultText } from './result-text.ts';
import { BrowserSignIn, SignIn } from './sign-in.ts';
import type { SignIns } from './sign-ins.ts';

export interface ServerLimits {
  /** Until a server has listed its tools. */
  startMs: number;
  /** For a call, since it began or the server last reported progress. */
  callMs: number;
}

interface McpServerOptions {
  name: string;
  config: ServerConfig;
  /** Kvasir's. */
  version: string;
  limits: ServerLimits;
  log: Logger;
  signIns: SignIns;
  /** State or tools are others now. */
  onChange: () => void;
}

/** For a person to sign in. */
const SIGN_IN_MS = 300_000;
const MOST_STDERR = 4000;
/** HTTP status of a request in a session that the server does not know (any more). */
const SESSION_LOST = 404;
/** The SDK's code for a request that timed out. */
const TIMED_OUT = -32001;

/** An MCP server: started on first use, and again on the next use after it failed. */
export class McpServer {
  readonly config: ServerConfig;
  readonly #options: McpServerOptions;
  readonly #closed = new AbortController();
  #state: ToolServer['state'] = 'off';
  #failure: KvasirError | undefined;
  #tools: readonly Tool[] = [];
  #connection: Connection | undefined;
  #starting: Promise<void> | undefined;
  #stderr = '';
  #signInPage: string | undefined;

  constructor(options: McpServerOptions) {
    this.config = options.config;
    this.#options = options;
  }

  get state(): ToolServer['state'] {
    return this.#state;
  }

  /** Why it failed; undefined in every other state. */
  get failure(): KvasirError | undefined {
    return this.#failure;
  }

  /** The page on which it waits for the person to sign in. */
  get signInPage(): string | undefined {
    return this.#signInPage;
  }

  /** As it listed them last. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** Starts it unless it runs. MCP_…; ABORTED, which does not stop the start. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#connection && !this.#starting) return;
    await unlessAborted(this.#openOnce(), signal);
  }

  /** Starts it with a sign-in on `signInPage`, also where it has one. MCP_…. */
  async signIn(): Promise<void> {
    await this.#starting?.catch(() => undefined);
    await this.#disconnect();
    await this.#openOnce(true);
  }

  /** Never rejects for what the server or the tool reports; ABORTED. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    try {
      const result = await this.#request(tool, args, signal);
      return { text: resultText(result), isError: result.isError === true };
    } catch (error) {
      throwIfAborted(signal);
      return { text: this.#callFailure(tool, error), isError: true };
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#starting?.catch(() => undefined);
    await this.#disconnect();
  }

  get #context(): ServerContext {
    const { name, config } = this.#options;
    return { name, config, stderr: this.#stderr };
  }

  #openOnce(byPerson = false): Promise<void> {
    this.#starting ??= this.#open(byPerson).finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  async #open(byPerson: boolean): Promise<void> {
    const { config, version, limits, log, name } = this.#options;
    const limitMs = byPerson ? SIGN_IN_MS : limits.startMs;
    const limit = AbortSignal.timeout(limitMs);
    const signal = AbortSignal.any([limit, this.#closed.signal]);
    this.#set('starting');
    this.#stderr = '';
    let signIn: SignIn | undefined;
    try {
      signIn = await this.#signInFor(byPerson);
      const { Connection: Sdk } = await import('./connection.ts');
      const connection: Connection = await Sdk.open(config, {
        version,
        signal,
        signIn,
        onClose: (closed) => this.#connectionClosed(closed),
        onToolsChanged: () => void this.#listAgain(),
        onStderr: (text) => (this.#stderr = (this.#stderr + text).slice(-MOST_STDERR)),
      });
      this.#connection = connection;
      this.#tools = connection.tools;
      this.#set('ready');
    } catch (error) {
      await this.#disconnect();
      const isSlow = limit.aborted && !this.#closed.signal.aborted;
      const failure = isSlow ? slowError(this.#context, limitMs / 1000) : serverError(error, this.#context);
      if (this.#closed.signal.aborted) {
        this.#set('off');
      } else {
        this.#set('failed', failure);
        log.warn('mcp-server-failed', { server: name, code: failure.code });
      }
      throw failure;
    } finally {
      this.#signInPage = undefined;
      if (signIn instanceof BrowserSignIn) signIn.close();
    }
  }

  /** None for programs, for servers that get headers, and where nobody has signed in yet. */
  async #signInFor(byPerson: boolean): Promise<SignIn | undefined> {
    const { name, config, signIns } = this.#options;
    if ('command' in config || Object.keys(config.headers).length > 0) return undefined;
    const options = { signIns, server: name, url: config.url };
    if (!byPerson) return signIns.has(name, config.url) ? new SignIn(options) : undefined;
    return BrowserSignIn.begin(options, (page) => {
      this.#signInPage = page.href;
      this.#options.onChange();
    });
  }

  async #request(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const options = { signal, ms: this.#options.limits.callMs };
    for (let isRetry = false; ; isRetry = true) {
      await this.start(signal);
      const connection = this.#connection;
      if (!connection) throw this.#failure ?? exitError(this.#context);
      try {
        return await connection.call(tool, args, options);
      } catch (error) {
        const { code } = error as { code?: unknown };
        // An HTTP server that was restarted has not run the tool.
        if (code === SESSION_LOST && !isRetry) await this.#disconnect();
        else throw error;
      }
    }
  }

  /** What the model and the person read. */
  #callFailure(tool: string, error: unknown): string {
    const { code } = error as { code?: unknown };
    if (this.#failure) return this.#failure.message;
    if (code === TIMED_OUT)
      return `${tool} timed out: no result and no progress for ${this.#options.limits.callMs / 1000} s.`;
    if (typeof code === 'number' && code < 0)
      // a JSON-RPC error
      return `${tool} failed: ${scrub(messageOf(error), this.#context)}`;
    const failure = serverError(error, this.#context);
    this.#options.log.warn('mcp-call-failed', { server: this.#options.name, code: failure.code });
    void this.#disconnect();
    this.#set('failed', failure);
    return failure.message;
  }

  #connectionClosed(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (!this.#starting) this.#set('failed', exitError(this.#context));
  }

  async #listAgain(): Promise<void> {
    const connection = this.#connection;
    if (!connection) return;
    try {
      const tools = await connection.listTools(AbortSignal.timeout(this.#options.limits.startMs));
      if (this.#connection !== connection) return;
      this.#tools = tools;
      this.#options.onChange();
    } catch (error) {
      const { code } = serverError(error, this.#context); // its message may contain keys
      this.#options.log.warn('mcp-tools-not-listed', { server: this.#options.name, code });
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined; // so that its end is no failure
    await connection?.close().catch(() => undefined);
  }

  #set(state: ToolServer['state'], failure?: KvasirError): void {
    this.#state = state;
    this.#failure = failure;
    this.#options.onChange();
  }
}
