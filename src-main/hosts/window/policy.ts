import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Stands in the window's index.html where the page's nonce goes, for the style elements that the UI library makes. */
const NONCE_PLACEHOLDER = '%KVASIR_NONCE%';

/** Sent with everything that is shown to a window, by either host. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=()',
};

interface PolicyOptions {
  nonce: string;
  /** Where a page may connect to. Default: its own origin. */
  connect?: readonly string[];
}

/** What a page may load and run: its own files, and no inline script. */
function contentSecurityPolicy({ nonce, connect = ["'self'"] }: PolicyOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src ${connect.join(' ')}`,
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export interface Page {
  html: string;
  headers: Record<string, string>;
}

/** The window's page with a nonce of its own, and the headers it must be sent with. Rejects when it is not built. */
export async function readPage(dir: string, policy: Omit<PolicyOptions, 'nonce'> = {}): Promise<Page> {
  const html = await readFile(join(dir, 'index.html'), 'utf8');
  const nonce = newNonce();
  return { html: html.replaceAll(NONCE_PLACEHOLDER, nonce), headers: pageHeaders({ ...policy, nonce }) };
}

/** Headers of a page that carries `nonce`: it is never kept, for its nonce must not be used twice. */
export function pageHeaders(policy: PolicyOptions): Record<string, string> {
  return {
    ...SECURITY_HEADERS,
    'Content-Security-Policy': contentSecurityPolicy(policy),
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
  };
}

export function newNonce(): string {
  return randomBytes(18).toString('base64url');
}

/** Files with a hash in their names never change. */
export function cacheControl(pathname: string): string {
  return pathname.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-cache';
}

/** The window is one page; where in it one is, stands behind the address's #. */
export function isPagePath(pathname: string): boolean {
  return pathname === '/' || pathname === '/index.html';
}
