import { decodeNamedCharacterReference } from 'decode-named-character-reference';

const SAFE = new Set(['http:', 'https:', 'mailto:']);

interface SafeLink {
  href: string;
  /** The target's host or mail address, for display. */
  target: string;
}

/** A link that may be opened outside the window; undefined for other schemes and relative URLs. */
export function safeLink(href: string): SafeLink | undefined {
  const url = URL.parse(decodeEntities(href));
  if (!url || !SAFE.has(url.protocol)) return undefined;
  return { href: url.href, target: url.protocol === 'mailto:' ? url.pathname : url.host };
}

/** Decodes character references such as `&amp;`. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z][\da-z]{1,31}));/gi,
    (whole, hex, decimal, name) => {
      if (typeof name === 'string') return decodeNamedCharacterReference(name) || whole;
      const code = typeof hex === 'string' ? parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
        ? String.fromCodePoint(code)
        : '\ufffd';
    },
  );
}
