// `npm run check`: the checks that every commit must pass. CI runs these and more (tools/test.ts).
import { CHECKS, runSteps } from './checks/suite.ts';

const results = await runSteps(CHECKS);
const failed = CHECKS.filter((_, i) => results[i]?.ok !== true).map((step) => step.name);
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
