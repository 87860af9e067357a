// `npm run test:full`: the tests that `npm test` runs in a short form. CI runs it after `npm test`.
import { full, fullUnit, nativeThreads, runStep } from './checks/suite.ts';

// One after the other: each uses every core.
const results = [await runStep(nativeThreads), await runStep(full), await runStep(fullUnit)];
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
