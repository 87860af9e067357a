import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesUnder } from './native-files.ts';

/** Folders of native/ that must not depend on JavaScript, and the includes that show such a dependency. */
const FOLDERS = ['engine', 'llama', 'models', 'tests', 'tools'];
const NAMES = /\.(cc|cpp|h|hpp|inc)$/;
const FORBIDDEN =
  /^\s*#\s*include\s*[<"](?:[\w./]*\/)?(napi\.h|napi-inl\.h|node_api\.h|js_native_api\.h|addon\/[^>"]*)[>"]/;

/** Returns one sentence for each include in native/ that makes the engine depend on its N-API glue. */
export function nativeIncludeProblems(root: string): string[] {
  return FOLDERS.flatMap((folder) => filesUnder(join(root, 'native', folder), NAMES)).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        const header = FORBIDDEN.exec(line)?.[1];
        if (header === undefined) return [];
        return `${relative(root, path)}:${i + 1} includes ${header}; only native/addon may, the engine knows nothing of JavaScript.`;
      }),
  );
}
