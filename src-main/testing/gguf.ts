/** The beginning of a GGUF file, with zero weights: sufficient for reading headers, not for the engine. */
export function ggufBytes(name: string, dataBytes = 4096): Buffer {
  const pairs = [
    pair('general.name', 8, text(name)),
    pair('numbers', 9, Buffer.concat([u32(4), u64(3), u32(1), u32(2), u32(3)])),
    pair('words', 9, Buffer.concat([u32(8), u64(2), text('one'), text('two')])),
    pair('flag', 7, Buffer.from([1])),
  ];
  const tensor = Buffer.concat([text('token_embd.weight'), u32(2), u64(32), u64(32), u32(0), u64(0)]);
  const head = [Buffer.from('GGUF'), u32(3), u64(1), u64(pairs.length), ...pairs, tensor];
  return Buffer.concat([...head, Buffer.alloc(dataBytes)]);
}

function pair(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([text(key), u32(type), value]);
}

function text(value: string): Buffer {
  return Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
