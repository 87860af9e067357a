import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The npm package that setup and the app download a pack from, with `library` as the pack. */
export function packPackage(library: Buffer, name = 'libggml-test.so'): Buffer {
  return gzipSync(
    Buffer.concat([
      tarEntry('package/package.json', Buffer.from('{"name":"@node-llama-cpp/test-vulkan"}')),
      tarEntry(`package/bins/test-vulkan/other-${name}`, Buffer.alloc(1500, 'x')),
      tarEntry(`package/bins/test-vulkan/${name}`, library),
      tarEntry('package/README.md', Buffer.from('# Test')),
      Buffer.alloc(1024),
    ]),
  );
}

export function tarEntry(path: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  header.write(path);
  header.write(`${content.length.toString(8).padStart(11, '0')} `, 124);
  header.write('0ustar', 156);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

/** Writes a resources/gpu-packs.json for test packages; `driver`: whether CUDA's is found. Returns its path. */
export function writePins(
  dir: string,
  packed: Buffer,
  { release = '1.0.0', cuda = false, driver = true, megabytes = 27 } = {},
): string {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'libdriver-test.so'), '');
  const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`;
  const pin = {
    name: '@node-llama-cpp/test-vulkan',
    megabytes,
    integrity,
    library: 'libggml-test.so',
    driver: [driver ? 'libdriver-test.so' : 'libno-such-driver.so'],
    runtime: [],
  };
  const platform = `${process.platform}-${process.arch}`;
  const packs = {
    vulkan: { [platform]: pin },
    cuda: cuda ? { [platform]: { ...pin, megabytes: 143, library: 'libggml-other.so' } } : {},
  };
  const path = join(dir, 'gpu-packs.json');
  writeFileSync(path, JSON.stringify({ release, libraryFolders: { [process.platform]: [dir] }, packs }));
  return path;
}
