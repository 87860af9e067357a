/** A file that was dropped or chosen, with its path below the folder that was dropped. */
export interface FoundFile {
  path: string;
  open: () => Promise<File>;
}

/** What a drop holds. It must be read while the drop event is handled: afterwards the browser takes it back. */
export interface Dropped {
  files: readonly File[];
  entries: readonly FileSystemEntry[];
}

export function droppedOf(transfer: DataTransfer): Dropped {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return { files: [...transfer.files], entries };
}

/** Every file below the dropped entries. Hidden files and folders (.git, .DS_Store) are left out. */
export async function* filesBelow(entries: readonly FileSystemEntry[]): AsyncGenerator<FoundFile> {
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (isFolder(entry)) yield* filesBelow(await childrenOf(entry));
    else if (isFile(entry)) {
      yield {
        path: entry.fullPath.replace(/^\//, ''),
        open: () => new Promise((resolve, reject) => entry.file(resolve, reject)),
      };
    }
  }
}

/** Files of an <input>; a chosen folder gives each its path below it. */
export function chosenFiles(files: Iterable<File>): FoundFile[] {
  return [...files]
    .map((file) => ({
      path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
      open: () => Promise.resolve(file),
    }))
    .filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    // A browser gives about a hundred at a time, and an empty list at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return children;
    children.push(...some);
  }
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
