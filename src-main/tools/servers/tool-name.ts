import { createHash } from 'node:crypto';

const LONGEST = 64;
const HASH_DIGITS = 12;

/**
 * What the model calls a server's tool: server__tool of [A-Za-z0-9_-]{1,64}, which every model format takes. It depends
 * on the two names only; where they do not fit, part of their hash tells them from others.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const isClear = !server.includes('__') && !server.endsWith('_') && !tool.startsWith('_');
  if (isClear && /^[A-Za-z0-9_-]{1,64}$/.test(plain)) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, HASH_DIGITS);
  return `${plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, LONGEST - HASH_DIGITS - 1)}_${hash}`;
}
