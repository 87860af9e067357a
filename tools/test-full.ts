// `npm run test:full`: the tests that `npm test` runs in a short form. CI runs it after `npm test`.
import { full, fuzz, runStep } from './checks/suite.ts';

// One after the other: each uses every core.
const results = [await runStep(full), await runStep(fuzz)];
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
