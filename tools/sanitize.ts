/**
 * Runs the native tests built with a sanitizer.
 *
 *   npm run sanitize -- address [part of a test's name]   memory errors, leaks and undefined behaviour
 *   npm run sanitize -- thread [part of a test's name]    data races
 *
 * ggml's libraries are prebuilt without sanitizers: memory errors inside them are found only where they call the C library, and races between
 * their own operations not at all. Exit code 1 for a report or a failed test.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sanitizedBuild } from './sanitized-build.ts';
import { ROOT } from './setup/platform.mjs';

const [sanitizer = '', ...filter] = process.argv.slice(2);
if (sanitizer !== 'address' && sanitizer !== 'thread')
  throw new Error('Say which sanitizer: npm run sanitize -- address, or thread.');
const build = sanitizedBuild(sanitizer, ['kvasir-native-tests']);
const { status } = spawnSync(join(build, 'kvasir-native-tests'), filter, {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, ...(sanitizer === 'thread' && { TSAN_OPTIONS: threadOptions() }) },
});
process.exitCode = status === 0 ? 0 : 1;

/**
 * Suppresses what ggml's libraries do by memcpy and the like: of them, ThreadSanitizer sees only that, and not how their threads are started
 * for a graph. Our operations in graphs are checked: native/tests/thread_sanitizer.cc says how.
 */
function threadOptions(): string {
  const libraries = readdirSync(join(ROOT, 'build', 'ggml')).filter((name) =>
    /^libggml-(cpu|base)/.test(name),
  );
  const suppressions = join(build, 'ggml.supp');
  writeFileSync(suppressions, libraries.map((name) => `called_from_lib:${name}\n`).join(''));
  return `suppressions=${suppressions} second_deadlock_stack=1 ${process.env['TSAN_OPTIONS'] ?? ''}`;
}
