import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders of native/ that must not know about JavaScript, and what gives it away. */
const FOLDERS = ['engine', 'models', 'tests', 'tools'];
const FORBIDDEN =
  /^\s*#\s*include\s*[<"](?:[\w./]*\/)?(napi\.h|napi-inl\.h|node_api\.h|js_native_api\.h|addon\/[^>"]*)[>"]/;

/** One sentence for each include in native/ that makes the engine depend on its N-API glue. */
export function nativeIncludeProblems(root: string): string[] {
  return FOLDERS.flatMap((folder) => filesUnder(join(root, 'native', folder))).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        const header = FORBIDDEN.exec(line)?.[1];
        if (header === undefined) return [];
        return `${relative(root, path)}:${i + 1} includes ${header}; only native/addon may, the engine knows nothing of JavaScript.`;
      }),
  );
}

function filesUnder(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(cc|cpp|h|hpp)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
