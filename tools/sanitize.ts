/**
 * Runs the native tests built with a sanitizer.
 *
 *   npm run sanitize -- address [part of a test's name]   memory errors, leaks and undefined behaviour
 *   npm run sanitize -- thread [part of a test's name]    data races
 *
 * ggml's libraries are prebuilt without sanitizers: memory errors inside them are found only where they call the C library, and what they
 * synchronise between their own threads is unknown to ThreadSanitizer (native/tests/thread.supp). Exit code 1 for a report or a failed test.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { sanitizedBuild } from './sanitized-build.ts';
import { ROOT } from './setup/platform.mjs';

const [sanitizer = '', ...filter] = process.argv.slice(2);
if (sanitizer !== 'address' && sanitizer !== 'thread')
  throw new Error('Say which sanitizer: npm run sanitize -- address, or thread.');
const build = sanitizedBuild(sanitizer, ['kvasir-native-tests']);
const suppressions = join(ROOT, 'native', 'tests', 'thread.supp');
const { status } = spawnSync(join(build, 'kvasir-native-tests'), filter, {
  cwd: ROOT,
  stdio: 'inherit',
  env: {
    ...process.env,
    TSAN_OPTIONS: `suppressions=${suppressions} second_deadlock_stack=1 ${process.env['TSAN_OPTIONS'] ?? ''}`,
  },
});
process.exitCode = status === 0 ? 0 : 1;
