import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { reachOf } from '../../../../src-shared/reach.ts';

/** Statuses whose responses have no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * The fetch function for OpenAI's client, on node:http: with the undici of Node 24, a server that closes the connection
 * while the body waits to be read crashes the process (as in platform/download/request.ts). Sends no information about
 * this machine, and follows no redirects: the request goes only to the host that the user chose.
 */
export async function httpFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const headers = new Headers(init.headers);
  for (const name of [...headers.keys()]) if (name.startsWith('x-stainless-')) headers.delete(name);
  headers.set('user-agent', 'Kvasir');
  headers.set('accept-encoding', 'identity');
  const body = typeof init.body === 'string' ? Buffer.from(init.body) : undefined;
  if (body) headers.set('content-length', String(body.length));
  const response = await send(url, { method: init.method ?? 'GET', headers, signal: init.signal }, body);
  const { statusCode: status = 0 } = response;
  if (status >= 300 && status < 400) {
    response.destroy();
    throw new Error('unexpected redirect');
  }
  const told = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const stream = BODILESS.has(status) ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>);
  return new Response(stream, { status, headers: told });
}

interface FetchRequest {
  method: string;
  headers: Headers;
  signal: AbortSignal | null | undefined;
}

function send(
  url: URL,
  { method, headers, signal }: FetchRequest,
  body: Buffer | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request, Agent } = url.protocol === 'https:' ? https : http;
    // A new agent: no connection that a server may have closed. Uses the proxy from the environment, except for hosts
    // on this machine.
    const agent = new Agent(reachOf(url.hostname) === 'here' ? {} : { proxyEnv: process.env });
    const options = { method, headers: Object.fromEntries(headers), agent, ...(signal && { signal }) };
    request(url, options, (response) => {
      response.on('error', () => undefined); // the reader gets the error; an unread body must not crash the process
      resolve(response);
    })
      .on('error', reject)
      .end(body);
  });
}
