/** The look of a document in a frame; `light-dark` follows the window's theme, not the system's. */
const STYLE = `
:root { color-scheme: light; font: 15px/1.6 system-ui, sans-serif; }
:root.dark { color-scheme: dark; }
body { margin: 0 auto; padding: 28px 36px 64px; max-width: 46rem; overflow-wrap: break-word;
  background: light-dark(#fff, #1b1e24); color: light-dark(#1d2129, #dfe3ea); }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin: 1.4em 0 0.5em; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; } h3 { font-size: 1.12rem; } h4, h5, h6 { font-size: 1rem; }
p, ul, ol, dl, table, pre, blockquote, figure { margin: 0 0 0.9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; max-width: 100%; }
th, td { border: 1px solid light-dark(#d9dde4, #3a3f49); padding: 5px 10px; text-align: start; vertical-align: top; }
th { background: light-dark(#f4f6f9, #242832); font-weight: 600; }
td > :last-child, th > :last-child, li > :last-child { margin-bottom: 0; }
pre, code, kbd, samp, tt { font-family: ui-monospace, monospace; font-size: 0.92em; }
pre { padding: 12px 14px; border-radius: 8px; background: light-dark(#f4f6f9, #242832); white-space: pre-wrap; }
blockquote { margin-inline: 0; padding-inline-start: 14px; border-inline-start: 3px solid light-dark(#d9dde4, #3a3f49); }
img { max-width: 100%; height: auto; }
hr { border: 0; border-top: 1px solid light-dark(#d9dde4, #3a3f49); margin: 1.4em 0; }
a { color: light-dark(#2456b8, #8fb4ff); }
section + section { border-top: 1px solid light-dark(#d9dde4, #3a3f49); padding-top: 0.9em; }
small { color: light-dark(#5d6675, #9aa3b2); }
.picture { padding: 1px 8px; border: 1px dashed light-dark(#b8bfca, #4a505c); border-radius: 6px; color: light-dark(#5d6675, #9aa3b2); }
mark { background: light-dark(#ffe58a, #6d5710); color: inherit; border-radius: 2px; }
mark#passage { scroll-margin-top: 30vh; }
`;

/** A whole page for a frame; `content` is safe HTML (library/formats/page/safe-html.ts). */
export function framePage(content: string, nonce: string, isDark: boolean): string {
  return `<!doctype html><html${isDark ? ' class="dark"' : ''}><head><meta charset="utf-8"><title>Kvasir</title><style nonce="${nonce}">${STYLE}</style></head><body>${content}</body></html>`;
}
