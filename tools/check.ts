// `npm run check`: what a change must pass before it is committed. CI runs the same, and more (tools/test.ts).
import { CHECKS, runSteps } from './checks/suite.ts';

const results = await runSteps(CHECKS);
const failed = CHECKS.filter((_, i) => results[i]?.ok !== true).map((step) => step.name);
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
