// `npm run test:full`: the tests that `npm test` runs in a short form. CI runs it after `npm test`.
import { full, fullUnit, nativeThreads, runStep, showFailures } from './checks/suite.ts';

// One after the other: each uses every core.
const steps = [nativeThreads, full, fullUnit];
const results = [];
for (const step of steps) results.push(await runStep(step));
showFailures(steps, results);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
