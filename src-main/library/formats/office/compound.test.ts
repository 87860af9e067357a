import { expect, test } from 'vitest';
import { compoundFile } from '../../../testing/compound-files.ts';
import { compoundStreams } from './compound.ts';

test('streams of embedded documents come after those of the file, whatever their case', () => {
  const bytes = compoundFile({
    'PowerPoint Document': Buffer.from('embedded'),
    WordDocument: Buffer.from('embedded'),
    WORDDOCUMENT: Buffer.from('own'),
  });
  // The root's only child is the third stream; the others are in a storage.
  const directory = 512 * (1 + bytes.readUInt32LE(48));
  bytes.writeUInt32LE(3, directory + 76);
  const streams = compoundStreams(bytes);
  expect([...(streams?.keys() ?? [])]).toEqual(['worddocument', 'powerpoint document']);
  expect(streams?.get('worddocument')?.().toString()).toBe('own');
});
