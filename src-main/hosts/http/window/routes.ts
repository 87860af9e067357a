import type { IncomingMessage, ServerResponse } from 'node:http';
import sirv, { type RequestHandler } from 'sirv';
import type { Api } from '../../../api/api.ts';
import type { Logger } from '../../../platform/logger.ts';
import { cacheControl, isPagePath, readPage, SECURITY_HEADERS, type Page } from '../../window/policy.ts';
import { sessionCookie, type Access } from './sessions.ts';
import { explanationPage, onwardPage } from './explanation.ts';
import type { Guard, Refusal } from './guard.ts';
import { download, upload, type UploadPlaces } from './transfers.ts';

interface RequestsOptions {
  access: Access;
  guard: Guard;
  api: Api;
  /** The built window. */
  rendererDir: string;
  uploads: UploadPlaces;
  log: Logger;
  port: () => number;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Handles plain HTTP: the window's files, uploads, backups, and an explanation page without a session. */
export function createRequests(options: RequestsOptions): Answer {
  const files = sirv(options.rendererDir, {
    etag: true,
    setHeaders: (response, pathname) => void response.setHeader('Cache-Control', cacheControl(pathname)),
  });
  return (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    // An unread body must neither be taken for the next request nor hold the connection.
    if (hasBody(request)) response.setHeader('Connection', 'close');
    const stranger = options.guard.checkHost(request);
    if (stranger) return refuse(response, stranger);
    const url = urlOf(request);
    if (!url) return plain(response, 400, 'This is not an address.');
    const token = url.searchParams.get('token');
    if (request.method === 'GET' && url.pathname === '/' && token !== null) {
      return redeem(request, response, options, token);
    }
    const refusal = checkUser(request, options.guard);
    if (refusal) return refuse(response, refusal);
    // From here on the URL is relative to the secret path.
    request.url = request.url?.slice(options.access.base.length - 1);
    const place = urlOf(request);
    if (!place) return plain(response, 400, 'This is not an address.');
    serve(request, response, place, options, files).catch((error: unknown) => {
      options.log.error('request-failed', { path: place.pathname, error: String(error) });
      if (response.headersSent) response.destroy();
      else plain(response, 500, 'Kvasir could not answer; its log says more.');
    });
  };
}

/** Responses for requests with a session. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams: query }: URL,
  { api, uploads, rendererDir }: RequestsOptions,
  files: RequestHandler,
): Promise<void> {
  if (pathname === '/upload' && request.method === 'PUT') {
    await upload(request, response, { query, places: uploads, api });
  } else if (!isRead(request)) {
    plain(response, 405, 'Kvasir does not take this here.');
  } else if (pathname === '/download') {
    if (!(await download(response, query.get('backup'), api)))
      plain(response, 404, 'There is no such backup.');
  } else if (isPagePath(pathname)) {
    page(response, 200, await readPage(rendererDir, connectTo(request)));
  } else {
    files(request, response, () => plain(response, 404, 'There is no such file.'));
  }
}

function checkUser(request: IncomingMessage, guard: Guard): Refusal | undefined {
  return guard.checkSession(request) ?? (isRead(request) ? undefined : guard.checkOrigin(request));
}

function redeem(
  request: IncomingMessage,
  response: ServerResponse,
  { access, port }: RequestsOptions,
  token: string,
): void {
  const session = access.redeem(token);
  if (session === undefined) return page(response, 401, explanationPage());
  response.setHeader('Set-Cookie', sessionCookie(port(), session, access.base));
  if (request.headers['sec-fetch-site'] === 'cross-site') return page(response, 200, onwardPage(access.base));
  response.writeHead(303, { Location: access.base, 'Cache-Control': 'no-store' }).end();
}

function refuse(response: ServerResponse, { status, reason }: Refusal): void {
  if (status === 401) return page(response, 401, explanationPage());
  plain(response, status, reason);
}

function page(response: ServerResponse, status: number, { html, headers }: Page): void {
  response.writeHead(status, headers).end(html);
}

function plain(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(`${sentence}\n`);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The window's WebSocket, also by name: not every browser includes it in 'self'. */
function connectTo({ headers }: IncomingMessage): { connect: string[] } {
  return { connect: ["'self'", `ws://${headers.host ?? ''}`] };
}

/** Only path and query matter: the Host header names the server. */
function urlOf({ url }: IncomingMessage): URL | undefined {
  return URL.parse(`http://kvasir${url ?? ''}`) ?? undefined;
}
