import { serveStatic } from '@hono/node-server/serve-static';
import { upgradeWebSocket, type HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Api } from '../../../api/api.ts';
import type { DocumentViews } from '../../../library/document-views.ts';
import { serveDocument } from '../../window/document-files.ts';
import { cacheControl, readPage, SECURITY_HEADERS, type Page } from '../../window/policy.ts';
import type { RouteSet } from '../app.ts';
import { Refusal } from '../errors.ts';
import { explanationPage, onwardPage } from './explanation.ts';
import type { Sessions } from './sessions.ts';
import { upload, type UploadPlaces } from './transfers.ts';

export interface WindowCore {
  api: Api;
  /** The built window: the folder with index.html. */
  rendererDir: string;
  uploads: UploadPlaces;
  views: DocumentViews;
}

/** The window's page and files, its WebSocket, uploads, and an explanation page without a session. */
export function windowRoutes(core: WindowCore, sessions: Sessions, port: () => number): RouteSet {
  const { path } = sessions;
  /** Cookies apply to all ports of a host: the port in the name separates two Kvasirs. */
  const cookie = (): string => `kvasir-${port()}`;
  return {
    access: {
      hosts: () => localHosts(port()),
      hostAdvice: '',
      origins: 'own',
      open: ['/'],
      checkCredentials: (c) => {
        if (!sessions.isValid(getCookie(c, cookie()), c.req.path)) throw noSession();
      },
      maxBodyBytes: Infinity,
    },
    around: addSecurityHeaders,
    respond: ({ status, headers, body }, c) => {
      if (status === 401) return show(c, 401, explanationPage());
      return c.text(`${body.error.message}\n`, status, { ...headers, 'Cache-Control': 'no-store' });
    },
    add: (app) => {
      app.get('/', (c) => {
        // A link's preview asks by HEAD, and must not use the token up.
        const session = c.req.method === 'GET' ? sessions.redeem(c.req.query('token') ?? '') : undefined;
        if (session === undefined) throw noSession();
        setCookie(c, cookie(), session, { path: `${path}/`, httpOnly: true, sameSite: 'Strict' });
        return enter(c, `${path}/`);
      });
      const upgrade = upgradeWebSocket(() => ({}));
      // Node upgrades only a request that asks for it in both of its headers; any other one has a response to write.
      app.get(`${path}/socket`, (c, next) =>
        (c.env as Partial<HttpBindings>).outgoing ? next() : upgrade(c, next),
      );
      app.use(`${path}/*`, async (c, next) => {
        if (c.req.header('upgrade') === undefined) return next();
        return c.notFound();
      });
      app.put(`${path}/upload`, (c) => upload(c, core.uploads, core.api));
      app.get(`${path}/document/*`, (c) =>
        serveDocument(core.views, c.req.path.slice(path.length), c.req.raw),
      );
      app.on('GET', [path, `${path}/index.html`], async (c) =>
        show(c, 200, await readPage(core.rendererDir, connectTo(c))),
      );
      app.get(`${path}/*`, serveFiles(core.rendererDir, path), (c) => c.notFound());
    },
  };
}

/** Host headers of a server on 127.0.0.1. Clients leave out HTTP's own port. */
function localHosts(port: number): string[] {
  const names = ['127.0.0.1', 'localhost'];
  return [...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])];
}

function noSession(): Refusal {
  return new Refusal(401, 'Kvasir needs the one-time address that it printed.');
}

const addSecurityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
};

function enter(c: Context, to: string): Response {
  if (c.req.header('sec-fetch-site') === 'cross-site') return show(c, 200, onwardPage(to));
  c.header('Cache-Control', 'no-store');
  return c.redirect(to, 303);
}

function show(c: Context, status: ContentfulStatusCode, { html, headers }: Page): Response {
  return c.body(html, status, headers);
}

function serveFiles(root: string, path: string): MiddlewareHandler {
  const inside = (full: string): string => full.slice(path.length);
  const serve = serveStatic({ root, rewriteRequestPath: inside });
  return (c, next) => {
    c.header('Cache-Control', cacheControl(inside(c.req.path)));
    return serve(c, next);
  };
}

/** The window's WebSocket, also by name: not every browser includes it in 'self'. */
function connectTo(c: Context): { connect: string[] } {
  return { connect: ["'self'", `ws://${c.req.header('host') ?? ''}`] };
}
