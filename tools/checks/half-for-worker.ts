/** Vitest's setup file: runs in the process of each test file. */
import { keepToHalf } from './halves.ts';

await keepToHalf((Number(process.env['VITEST_POOL_ID']) - 1) % 2);
