import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const hex = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/**
 * A small server on loopback that speaks as much of S3's protocol as a shared cache asks for: objects whole and in ranges, uploads in
 * parts, lists; requests are signed (version 4), and the signature is computed anew. It keeps everything in memory.
 */
export class TestS3 {
  readonly accessKeyId = 'AKIDTEST';
  readonly secretAccessKey = 'a secret of the tests';
  readonly bucket = 'shared';
  readonly objects = new Map<string, Buffer>();
  /** Methods with what was asked for, such as "GET bytes=0-9" or "PUT part". */
  readonly seen: string[] = [];
  /** Bytes of an answer after which the connection is cut. */
  cutAfter: number | undefined;
  readonly #uploads = new Map<string, Map<number, Buffer>>();
  #begun = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<TestS3> {
    const server = new TestS3();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const url = new URL(request.url ?? '/', this.address);
    const refused = this.#refusal(request, url, body);
    if (refused) {
      refuse(response, 403, refused);
      return;
    }
    const [, bucket, ...path] = decodeURIComponent(url.pathname).split('/');
    if (bucket !== this.bucket) {
      refuse(response, 404, 'NoSuchBucket');
      return;
    }
    const key = path.join('/');
    const upload = url.searchParams.get('uploadId');
    if (request.method === 'POST') {
      this.#post(url, key, upload, response);
      return;
    }
    if (request.method === 'PUT') {
      this.#put(url, key, upload, body, response);
      return;
    }
    if (request.method === 'DELETE') {
      if (upload === null) this.objects.delete(key);
      else this.#uploads.delete(upload);
      return void response.writeHead(204).end();
    }
    if (key === '') {
      this.#list(url, response);
      return;
    }
    this.#get(key, request, response);
  }

  #get(key: string, { method, headers }: IncomingMessage, response: ServerResponse): void {
    this.seen.push(`${method} ${headers.range ?? ''}`.trim());
    const object = this.objects.get(key);
    if (!object) return refuse(response, 404, 'NoSuchKey');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
    if (from !== undefined && Number(from) >= object.length) return refuse(response, 416, 'InvalidRange');
    const part = from === undefined ? object : object.subarray(Number(from), Number(to) + 1);
    response.writeHead(from === undefined ? 200 : 206, { 'content-length': part.length });
    if (method === 'HEAD') return void response.end();
    if (this.cutAfter === undefined) return void response.end(part);
    response.write(part.subarray(0, this.cutAfter), () => response.destroy());
  }

  #put(url: URL, key: string, upload: string | null, body: Buffer, response: ServerResponse): void {
    this.seen.push(upload === null ? 'PUT' : 'PUT part');
    if (upload === null) this.objects.set(key, body);
    else this.#uploads.get(upload)?.set(Number(url.searchParams.get('partNumber')), body);
    response.writeHead(200, { etag: `"${hex(body)}"` }).end();
  }

  #post(url: URL, key: string, upload: string | null, response: ServerResponse): void {
    if (upload === null) {
      const id = `upload-${this.#begun++}`;
      this.#uploads.set(id, new Map());
      return void response.end(
        `<InitiateMultipartUploadResult><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    const parts = [...(this.#uploads.get(upload) ?? [])].sort(([a], [b]) => a - b);
    this.objects.set(key, Buffer.concat(parts.map(([, part]) => part)));
    response.end(`<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`);
  }

  #list(url: URL, response: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix));
    const entries = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
    response.end(`<ListBucketResult><KeyCount>${keys.length}</KeyCount>${entries}</ListBucketResult>`);
  }

  /** The code that a request with a wrong signature is refused with. */
  #refusal({ method = '', headers }: IncomingMessage, url: URL, body: Buffer): string | undefined {
    const [, id, scope = '', signed = '', signature] =
      /Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(
        headers.authorization ?? '',
      ) ?? [];
    if (id !== this.accessKeyId) return 'InvalidAccessKeyId';
    const payload = String(headers['x-amz-content-sha256']);
    if (/^[0-9a-f]{64}$/.test(payload) && payload !== hex(body)) return 'XAmzContentSHA256Mismatch';
    const query = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort();
    const canonical = [
      ...[method, url.pathname, query.join('&')],
      ...signed.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}`),
      ...['', signed, payload],
    ].join('\n');
    const [date = '', region = '', service = ''] = scope.split('/');
    const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, hex(canonical)].join('\n');
    const key = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${this.secretAccessKey}`, date));
    return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
