import { describe, expect, it } from 'vitest';
import { chosenFiles, filesBelow, type FoundFile } from './dropped-files.ts';

type Tree = { [name: string]: Tree | string };

/** Entries as a browser returns them: a folder's children come in batches of `batch`. */
function entriesOf(tree: Tree, base = '', batch = 2): FileSystemEntry[] {
  return Object.entries(tree).map(([name, node]) => {
    const fullPath = `${base}/${name}`;
    if (typeof node === 'string') {
      const file = (done: (file: File) => void) => done(new File([node], name));
      return { name, fullPath, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
    }
    const createReader = () => {
      const left = entriesOf(node, fullPath, batch);
      return { readEntries: (done: (some: FileSystemEntry[]) => void) => done(left.splice(0, batch)) };
    };
    return { name, fullPath, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry;
  });
}

async function allOf(files: AsyncIterable<FoundFile>): Promise<FoundFile[]> {
  const all = [];
  for await (const file of files) all.push(file);
  return all;
}

describe('filesBelow', () => {
  it('walks folders to their end and keeps the paths below them', async () => {
    const many = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`${n}.txt`, 'x']));
    const found = await allOf(filesBelow(entriesOf({ docs: { many, 'a.md': 'hello' }, 'b.pdf': '' })));
    expect(found.map(({ path }) => path)).toEqual([
      ...Array.from({ length: 7 }, (_, n) => `docs/many/${n}.txt`),
      'docs/a.md',
      'b.pdf',
    ]);
    expect(await (await found[7]!.open()).text()).toBe('hello');
  });

  it('leaves out what is hidden', async () => {
    const found = await allOf(
      filesBelow(entriesOf({ docs: { '.git': { config: '' }, '.DS_Store': '', 'a.md': '' } })),
    );
    expect(found.map(({ path }) => path)).toEqual(['docs/a.md']);
  });
});

describe('chosenFiles', () => {
  it('takes the path below a chosen folder where there is one', () => {
    const inFolder = Object.assign(new File([''], 'a.md'), { webkitRelativePath: 'docs/a.md' });
    const hidden = Object.assign(new File([''], 'c'), { webkitRelativePath: 'docs/.git/c' });
    const single = Object.assign(new File([''], 'b.md'), { webkitRelativePath: '' });
    expect(chosenFiles([inFolder, hidden, single]).map(({ path }) => path)).toEqual(['docs/a.md', 'b.md']);
  });
});
