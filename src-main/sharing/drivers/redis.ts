import { isIP } from 'node:net';
import { Redis } from 'iovalkey';
import type { Driver, ValueSource } from '../driver.ts';

interface RedisOptions {
  host: string;
  port: number;
  tls: boolean;
  /** Trusted CA certificates, PEM; default: the well-known ones. */
  authorities?: string[] | undefined;
  /** Empty: the server's default user. */
  user: string;
  /** Empty: none. */
  password: string;
  database: number;
  /** Prefix of every key. */
  prefix: string;
  /** Expiry in seconds; 0: never. */
  expireSeconds: number;
  largestBytes: number;
}

const CONNECT_MS = 5000;

/**
 * Values in Redis or Valkey, one string each. Reads use a separate connection: a value takes a while to arrive, and
 * responses on a connection come in order.
 */
export class RedisDriver implements Driver {
  readonly largestBytes: number;
  readonly #options: RedisOptions;
  readonly #clients = new Map<'read' | 'write', { client: Redis; ready: Promise<Redis> }>();

  constructor(options: RedisOptions) {
    this.#options = options;
    this.largestBytes = options.largestBytes;
  }

  async sizes(names: readonly string[]): Promise<Map<string, number>> {
    const client = await this.#client('read');
    // A missing key has length 0, so this answers both questions.
    const pipeline = client.pipeline();
    for (const name of names) pipeline.strlen(this.#key(name));
    const answers = (await pipeline.exec()) ?? [];
    return new Map(
      names.flatMap((name, i): [string, number][] => {
        const [error, bytes] = answers[i] ?? [];
        if (error && !error.message.startsWith('WRONGTYPE')) throw error;
        return typeof bytes === 'number' && bytes > 0 ? [[name, bytes]] : [];
      }),
    );
  }

  async read(name: string, from: number, bytes: number): Promise<Uint8Array> {
    const client = await this.#client('read');
    return client.getrangeBuffer(this.#key(name), from, from + bytes - 1);
  }

  async write(name: string, value: ValueSource, signal: AbortSignal, over = false): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of value.pieces()) pieces.push(piece);
    const client = await this.#client('write');
    const { expireSeconds } = this.#options;
    const expiry = expireSeconds > 0 ? ['EX', expireSeconds] : [];
    signal.throwIfAborted();
    const cut = (): void => client.disconnect(); // the only way to stop a value in transfer
    signal.addEventListener('abort', cut, { once: true });
    try {
      await client.call('SET', [this.#key(name), Buffer.concat(pieces), ...expiry, ...(over ? [] : ['NX'])]);
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  async remove(name: string): Promise<void> {
    const client = await this.#client('write');
    await client.del(this.#key(name));
  }

  reset(): void {
    for (const { client } of this.#clients.values()) client.disconnect();
    this.#clients.clear();
  }

  #key(name: string): string {
    return this.#options.prefix + name;
  }

  #client(use: 'read' | 'write'): Promise<Redis> {
    const known = this.#clients.get(use);
    if (known) return known.ready;
    const client = this.#make();
    const made = { client, ready: this.#connect(client) };
    const forget = (): void => {
      if (this.#clients.get(use) === made) this.#clients.delete(use);
    };
    client.on('end', forget);
    made.ready.catch(forget);
    this.#clients.set(use, made);
    return made.ready;
  }

  #make(): Redis {
    const { host, port, tls, authorities } = this.#options;
    return new Redis({
      host,
      port,
      ...(tls && {
        tls: {
          ...(isIP(host) === 0 && { servername: host }),
          ...(authorities !== undefined && { ca: authorities }),
        },
      }),
      lazyConnect: true,
      connectTimeout: CONNECT_MS,
      enableReadyCheck: false,
      autoResendUnfulfilledCommands: false,
      // The circuit breaker decides when to retry.
      retryStrategy: () => null,
    });
  }

  /** Sends password and database explicitly: the client would print errors about them to the terminal. */
  async #connect(client: Redis): Promise<Redis> {
    const { user, password, database } = this.#options;
    let why: unknown;
    client.on('error', (error) => (why = error));
    try {
      await client.connect();
      if (password !== '') await (user === '' ? client.auth(password) : client.auth(user, password));
      if (database !== 0) await client.select(database);
      return client;
    } catch (error) {
      client.disconnect();
      throw why ?? error;
    }
  }
}
