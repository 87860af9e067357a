import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesUnder } from './native-files.ts';

/** Same limit as in .clang-format and .editorconfig. */
const LONGEST = 120;
const NAMES = /\.(cc|cpp|h|hpp|inc)$|^CMakeLists\.txt$/;

/** Returns one sentence for each line of native/ that is too long. Counts characters, not bytes. */
export function nativeLineProblems(root: string): string[] {
  return filesUnder(join(root, 'native'), NAMES).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, i) => {
        const { length } = Array.from(line);
        if (length <= LONGEST) return [];
        return `${relative(root, path)}:${i + 1} has ${length} characters; a line of native/ has ${LONGEST} at most.`;
      }),
  );
}
