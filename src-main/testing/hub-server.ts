import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestRepository {
  files: Record<string, Buffer>;
  /** Commit of `main`; earlier ones no longer exist. */
  sha?: string;
  gated?: false | 'auto' | 'manual';
  task?: string;
  tags?: string[];
  downloads?: number;
  /** Header information in search results. */
  gguf?: { total: number; architecture: string };
}

interface ReceivedRequest {
  server: 'hub' | 'files';
  path: string;
  authorization: string | undefined;
  range: string | undefined;
}

/** Answers instead of the server; returns whether it did. */
type RequestOverride = (request: IncomingMessage, response: ServerResponse) => boolean;

export const SHA = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00';

/**
 * A hub on this machine that speaks the Hugging Face API as documented: listing with Link headers, repository
 * information, file trees with LFS metadata, and /resolve/, which redirects to another server for files, like the
 * public hub.
 */
export class TestHub {
  readonly repositories: Record<string, TestRepository>;
  /** The accepted token; gated repositories require it for files. */
  token = 'hf_let_me_in';
  /** Entries per page. */
  pageSize = 20;
  /** Bytes of a file after which the connection is closed, one for each request; none: the whole file is sent. */
  cuts: number[] = [];
  /** Milliseconds between 64 KiB pieces of a file. */
  pauseMs = 0;
  /** Content sent instead of a file's, by its path. */
  swapped: Record<string, Buffer> = {};
  /** ETag of a file; the public hub's servers do not all send the same. */
  etag = (bytes: Buffer): string => `"${sha256Of(bytes)}"`;
  instead: RequestOverride = () => false;
  readonly seen: ReceivedRequest[] = [];
  readonly #hub: Server;
  readonly #files: Server;

  private constructor(repositories: Record<string, TestRepository>) {
    this.repositories = repositories;
    this.#hub = createServer((request, response) => this.#answer('hub', request, response));
    this.#files = createServer((request, response) => this.#answer('files', request, response));
  }

  static async open(repositories: Record<string, TestRepository>): Promise<TestHub> {
    const hub = new TestHub(repositories);
    for (const server of [hub.#hub, hub.#files])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get address(): string {
    return addressOf(this.#hub);
  }

  close(): void {
    for (const server of [this.#hub, this.#files]) {
      server.closeAllConnections();
      server.close();
    }
  }

  #answer(server: ReceivedRequest['server'], request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', addressOf(this.#hub));
    const { authorization, range } = request.headers;
    this.seen.push({ server, path: url.pathname, authorization, range });
    if (this.instead(request, response)) return;
    if (server === 'files') return this.#file(url, request, response);
    if (url.pathname === '/api/models') return this.#list(url, response);
    const [, tree, revision] = /^\/api\/models\/(.+)\/tree\/([^/]+)$/.exec(url.pathname) ?? [];
    if (tree !== undefined) return this.#tree(tree, revision ?? '', url, response);
    const [, info] = /^\/api\/models\/(.+)$/.exec(url.pathname) ?? [];
    if (info !== undefined) return this.#info(info, response);
    this.#resolve(url, request, response);
  }

  #list(url: URL, response: ServerResponse): void {
    const words = (url.searchParams.get('search') ?? '').toLowerCase();
    const all = Object.entries(this.repositories)
      .filter(([id]) => id.toLowerCase().includes(words))
      .sort(([, a], [, b]) => (b.downloads ?? 0) - (a.downloads ?? 0))
      .map(([id, repository]) => ({ ...listed(id, repository), gguf: repository.gguf }));
    this.#page(all, url, response);
  }

  #info(id: string, response: ServerResponse): void {
    const repository = this.repositories[id];
    if (!repository) return refuse(response, 401, 'RepoNotFound');
    json(response, { ...listed(id, repository), sha: repository.sha ?? SHA, siblings: [] });
  }

  #tree(id: string, revision: string, url: URL, response: ServerResponse): void {
    const repository = this.repositories[id];
    if (!repository) return refuse(response, 401, 'RepoNotFound');
    if (!isAt(repository, revision)) return refuse(response, 404, 'RevisionNotFound');
    const entries = Object.entries(repository.files).map(([path, bytes]) => {
      const oid = createHash('sha1').update(bytes).digest('hex');
      const lfs = { oid: sha256Of(bytes), size: bytes.length, pointerSize: 134 };
      const file = { type: 'file', oid, size: bytes.length, path };
      return path.endsWith('.gguf') ? { ...file, lfs } : file;
    });
    this.#page([{ type: 'directory', oid: '0', size: 0, path: 'folder' }, ...entries], url, response);
  }

  /** A page, and the URL of the next like the public hub's: absolute, with its own host name. */
  #page(all: unknown[], url: URL, response: ServerResponse): void {
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const next = from + this.pageSize;
    if (next < all.length) {
      url.searchParams.set('cursor', String(next));
      const target = `https://hub.example${url.pathname}${url.search}`;
      response.setHeader('link', `<${target}>; rel="next"`);
    }
    json(response, all.slice(from, next));
  }

  #resolve(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const [, id = '', revision = '', path = ''] = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(url.pathname) ?? [];
    const repository = this.repositories[id];
    if (!repository) return refuse(response, 401, 'RepoNotFound');
    if (repository.gated && request.headers.authorization !== `Bearer ${this.token}`) {
      return refuse(response, request.headers.authorization === undefined ? 401 : 403, 'GatedRepo');
    }
    if (!isAt(repository, revision)) return refuse(response, 404, 'RevisionNotFound');
    const bytes = repository.files[decodeURIComponent(path)];
    if (!bytes) return refuse(response, 404, 'EntryNotFound');
    const location = `${addressOf(this.#files)}/${id}/${path}`;
    const linked = { 'x-linked-size': bytes.length, 'x-linked-etag': `"${sha256Of(bytes)}"` };
    response.writeHead(302, { location, 'x-repo-commit': revision, ...linked }).end();
  }

  #file(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const [owner = '', name = '', ...path] = url.pathname.slice(1).split('/').map(decodeURIComponent);
    const at = path.join('/');
    const bytes = this.swapped[at] ?? this.repositories[`${owner}/${name}`]?.files[at];
    if (!bytes) return refuse(response, 404, '');
    const etag = this.etag(bytes);
    const { range = '', 'if-range': only = etag } = request.headers;
    const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(only === etag ? range : '') ?? [];
    const from = Number(start ?? 0);
    const to = Math.min(bytes.length, end ? Number(end) + 1 : Infinity);
    const headers = { etag, 'accept-ranges': 'bytes' };
    if (start !== undefined && from >= bytes.length) {
      response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
      return;
    }
    response.writeHead(start === undefined ? 200 : 206, {
      ...headers,
      'content-length': to - from,
      ...(start !== undefined && { 'content-range': `bytes ${from}-${to - 1}/${bytes.length}` }),
    });
    void this.#send(bytes.subarray(from, to), response);
  }

  async #send(body: Buffer, response: ServerResponse): Promise<void> {
    const cut = this.cuts.shift();
    const sent = body.subarray(0, cut);
    for (let at = 0; at < sent.length && !response.destroyed; at += 65_536) {
      response.write(sent.subarray(at, at + 65_536));
      if (this.pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, this.pauseMs));
    }
    if (cut === undefined) response.end();
    else setTimeout(() => response.destroy(), 50); // once the written data has been sent
  }
}

function listed(id: string, { gated = false, task, tags = [], downloads = 0 }: TestRepository) {
  return {
    ...{ _id: id, id, modelId: id, private: false, likes: 3, downloads, gated },
    ...(task !== undefined && { pipeline_tag: task }),
    tags: ['gguf', ...tags],
    lastModified: '2026-05-04T10:00:00.000Z',
  };
}

function isAt({ sha = SHA }: TestRepository, revision: string): boolean {
  return revision === 'main' || revision === sha;
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'x-error-code': code, 'x-error-message': 'No.' }).end('{"error":"No."}');
}

export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
