/** The look of a document in a frame, in the colours of the window (src-renderer/ui/tokens.css), which reach no frame. */
const STYLE = `
:root { color-scheme: light; font: 15px/1.6 system-ui, sans-serif; --line: #dfdfda; --muted: #5d5f58; --sunken: #f4f4f1;
  --link: #0b5e58; --mark: #ffe58a; background: #ffffff; color: #1c1d1a; }
:root.dark { color-scheme: dark; --line: #3a403d; --muted: #a0a69f; --sunken: #262a28; --link: #5eead4; --mark: #6d5710;
  background: #1c1f1e; color: #e6e8e4; }
body { margin: 0 auto; padding: 28px 36px 64px; max-width: 46rem; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin: 1.4em 0 0.5em; font-size: 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; } h3 { font-size: 1.12rem; }
p, ul, ol, dl, table, pre, blockquote, figure { margin: 0 0 0.9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; max-width: 100%; }
th, td { border: 1px solid var(--line); padding: 5px 10px; text-align: start; vertical-align: top; }
th { background: var(--sunken); font-weight: 600; }
td > :last-child, th > :last-child, li > :last-child { margin-bottom: 0; }
pre, code, kbd, samp, tt { font-family: ui-monospace, monospace; font-size: 0.92em; }
pre { padding: 12px 14px; border-radius: 8px; background: var(--sunken); white-space: pre-wrap; }
blockquote { margin-inline: 0; padding-inline-start: 14px; border-inline-start: 3px solid var(--line); }
img { max-width: 100%; height: auto; }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.4em 0; }
a { color: var(--link); }
section + section { border-top: 1px solid var(--line); padding-top: 0.9em; }
small, .picture { color: var(--muted); }
.picture { padding: 1px 8px; border: 1px dashed var(--line); border-radius: 6px; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
#passage { scroll-margin-top: 30vh; }
`;

/** A whole page for a frame; `content` is safe HTML (library/formats/page/safe-html.ts). */
export function framePage(content: string, nonce: string, isDark: boolean): string {
  return `<!doctype html><html${isDark ? ' class="dark"' : ''}><head><meta charset="utf-8"><title>Kvasir</title><style nonce="${nonce}">${STYLE}</style></head><body>${content}</body></html>`;
}
