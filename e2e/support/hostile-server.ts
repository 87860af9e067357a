/** A server with OpenAI's API that misbehaves as configured. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface ReceivedRequest {
  url: string;
  headers: IncomingMessage['headers'];
  body: { messages?: { role: string; content: string }[]; [key: string]: unknown };
}

export interface HostileServer {
  /** Including /v1. */
  address: string;
  host: string;
  heard: ReceivedRequest[];
  /** Requests whose connection the client closed before the answer was complete. */
  left: number;
  answer: (response: ServerResponse, request: ReceivedRequest) => unknown;
  close(): Promise<void>;
}

const TLS = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'tls', name));

export async function hostileServer({ tls = false } = {}): Promise<HostileServer> {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    let text = '';
    request.setEncoding('utf8').on('data', (more: string) => (text += more));
    request.on('end', () => {
      const body = (text === '' ? {} : JSON.parse(text)) as ReceivedRequest['body'];
      const asked = { url: request.url ?? '', headers: request.headers, body };
      hostile.heard.push(asked);
      response.on('close', () => {
        if (!response.writableFinished) hostile.left++;
      });
      hostile.answer(response, asked);
    });
  };
  const server = tls
    ? createTlsServer({ cert: TLS('cert.pem'), key: TLS('key.pem') }, serve)
    : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hostile: HostileServer = {
    host,
    address: `${tls ? 'https' : 'http'}://${host}/v1`,
    heard: [],
    left: 0,
    answer: (response) => stream(response, ['Fine.']),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return hostile;
}

export function event(delta: Record<string, string>, reason: string | null = null): string {
  return `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
}

/** Begins an answer, and leaves it open. */
export function begin(response: ServerResponse, texts: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  for (const content of texts) response.write(event({ content }));
}

/** A complete answer of a correct server. */
export function stream(response: ServerResponse, texts: readonly string[], usage?: unknown): void {
  begin(response, texts);
  response.write(event({}, 'stop'));
  if (usage !== undefined) response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** An error in OpenAI's format. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error }));
}
