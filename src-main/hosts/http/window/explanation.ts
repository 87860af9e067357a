import type { Page } from '../../window/policy.ts';
import { newNonce, pageHeaders } from '../../window/policy.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
  body { margin: 12vh auto; padding: 0 24px; max-width: 36rem; }
  h1 { font-size: 1.4rem; }
  code { padding: 0 4px; border-radius: 4px; background: color-mix(in srgb, currentColor 12%, transparent); }
`;

/** The only page shown without a session: how to get one. */
export function explanationPage(): Page {
  const nonce = newNonce();
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kvasir</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>This page needs Kvasir's one-time address</h1>
<p>Kvasir prints an address that ends in <code>?token=…</code> where it was started. It works once, in one browser:
this one is missing, wrong, or has been used.</p>
<p>Press <kbd>Enter</kbd> in the terminal where Kvasir runs to get a fresh address, or start Kvasir again.</p>
<p lang="zh">此页面需要 Kvasir 启动时显示的一次性地址。请在运行 Kvasir 的终端中按 <kbd>Enter</kbd> 获取新地址，或重新启动 Kvasir。</p>
</body>
</html>
`;
  return { html, headers: pageHeaders({ nonce }) };
}

/**
 * Continues to the window. For a URL that was clicked on another site's page (a terminal in the browser): the browser
 * would follow a redirect without the new session's cookie, but sends it with this page's own request.
 */
export function onwardPage(to: string): Page {
  const html = `<!doctype html>\n<meta charset="utf-8">\n<title>Kvasir</title>\n<a href="${to}">Kvasir</a>\n`;
  return { html, headers: { ...pageHeaders({ nonce: newNonce() }), Refresh: `0; url=${to}` } };
}
