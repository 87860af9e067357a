import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { net, protocol } from 'electron';
import type { DocumentViews } from '../../library/document-views.ts';
import { serveDocument } from '../window/document-files.ts';
import { cacheControl, isPagePath, readPage, SECURITY_HEADERS } from '../window/policy.ts';

/** The window's files use a custom scheme: it has an origin like the web's, which file: lacks. */
const SCHEME = 'app';
const HOST = 'kvasir';
export const WINDOW_ADDRESS = `${SCHEME}://${HOST}/`;

/** Must be called before the app is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: SCHEME, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ]);
}

/** Serves the built window and its documents on the scheme, and nothing else. */
export function serveWindow(rendererDir: string, views: DocumentViews): void {
  protocol.handle(SCHEME, async (request) => {
    const url = new URL(request.url);
    if (url.host !== HOST || request.method !== 'GET') return new Response(null, { status: 404 });
    if (isPagePath(url.pathname)) {
      const { html, headers } = await readPage(rendererDir);
      return new Response(html, { headers });
    }
    if (url.pathname.startsWith('/document/')) return serveDocument(views, url.pathname, request);
    const path = fileInside(rendererDir, url.pathname);
    if (path === undefined) return new Response(null, { status: 404 });
    const file = await net.fetch(pathToFileURL(path).toString()).catch(() => undefined);
    if (!file?.ok) return new Response(null, { status: 404 });
    const headers = { ...SECURITY_HEADERS, 'Cache-Control': cacheControl(url.pathname) };
    return new Response(file.body, { headers: { ...Object.fromEntries(file.headers), ...headers } });
  });
}

/** Whether a URL belongs to the window. Node's URL gives every custom scheme the origin "null". */
export function isWindowAddress(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === `${SCHEME}:` && url.host === HOST;
}

/** The file for a path below `dir`; undefined if it would be outside. */
function fileInside(dir: string, pathname: string): string | undefined {
  let name: string;
  try {
    name = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  const path = resolve(join(dir, name));
  return path.startsWith(resolve(dir) + sep) && !name.includes('\0') ? path : undefined;
}
