import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Placeholder in the window's index.html for the page's nonce, which the UI library's style elements need. */
const NONCE_PLACEHOLDER = '%KVASIR_NONCE%';

/** Sent with every response to a window, by either host. */
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
  /** Where a page may connect. Default: its own origin. */
  connect?: readonly string[];
}

/** Allows a page to load and run only its own files, without inline scripts. */
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
    "frame-src 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Of a document's page in a frame of the window: it has styles and pictures in itself, and nothing else. */
export function frameHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    'img-src data:',
    `style-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox',
  ];
  return {
    ...SECURITY_HEADERS,
    'X-Frame-Options': 'SAMEORIGIN',
    'Content-Security-Policy': policy.join('; '),
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
  };
}

export interface Page {
  html: string;
  headers: Record<string, string>;
}

/** The window's page with a fresh nonce, and its headers. Rejects if the window is not built. */
export async function readPage(dir: string, policy: Omit<PolicyOptions, 'nonce'> = {}): Promise<Page> {
  const html = await readFile(join(dir, 'index.html'), 'utf8');
  const nonce = newNonce();
  return { html: html.replaceAll(NONCE_PLACEHOLDER, nonce), headers: pageHeaders({ ...policy, nonce }) };
}

/** Headers of a page with `nonce`: it is never cached, because a nonce must not be reused. */
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

/** The window is a single page; the route follows the URL's #. */
export function isPagePath(pathname: string): boolean {
  return pathname === '/' || pathname === '/index.html';
}
