/** Token ids in their disk format: little-endian int32. */
export function packTokens(tokens: Int32Array): Buffer {
  const bytes = Buffer.alloc(tokens.length * 4);
  tokens.forEach((token, i) => bytes.writeInt32LE(token, i * 4));
  return bytes;
}

/** Reverses packTokens(). */
export function unpackTokens(bytes: Buffer): Int32Array {
  const tokens = new Int32Array(bytes.length / 4);
  for (let i = 0; i < tokens.length; i++) tokens[i] = bytes.readInt32LE(i * 4);
  return tokens;
}

export function sameTokens(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((token, i) => token === b[i]);
}
