/**
 * Runs the native tests with sanitizers: memory errors, leaks and undefined behaviour.
 *
 *   npm run sanitize -- address [part of a test's name]
 *
 * ggml's libraries are prebuilt without sanitizers: memory errors inside them are found only where they call the C library. Exit code 1 for
 * a report or a failed test.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { sanitizedBuild } from './sanitized-build.ts';
import { ROOT } from './setup/platform.mjs';

const [sanitizer = '', ...filter] = process.argv.slice(2);
if (sanitizer !== 'address') throw new Error('Say which sanitizer: npm run sanitize -- address.');
const build = sanitizedBuild(sanitizer, ['kvasir-native-tests']);
const { status } = spawnSync(join(build, 'kvasir-native-tests'), filter, { cwd: ROOT, stdio: 'inherit' });
process.exitCode = status === 0 ? 0 : 1;
