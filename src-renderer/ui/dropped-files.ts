/** A dropped or chosen file, with its path relative to the dropped folder. */
export interface FoundFile {
  path: string;
  open: () => Promise<File>;
}

/** The entries of a drop. Must be called during the drop event: the browser revokes access afterwards. */
export interface DropEntries {
  files: readonly File[];
  entries: readonly FileSystemEntry[];
}

export function dropEntries(transfer: DataTransfer): DropEntries {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return { files: [...transfer.files], entries };
}

/** All files below the dropped entries. Hidden files and folders (.git, .DS_Store) are skipped. */
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

/** Files of an <input>; if a folder was chosen, paths are relative to it. */
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
    // Browsers return about a hundred entries per call, and an empty list at the end.
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
