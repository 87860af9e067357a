// `npm run check`: what a change must pass before it is committed. CI runs the same, and more (tools/test.ts).
import {
  format,
  lint,
  nativeIncludes,
  nativeLines,
  runSteps,
  types,
  unit,
  type SuiteStep,
} from './checks/suite.ts';

const STEPS: SuiteStep[] = [types, lint, format, nativeIncludes, nativeLines, unit];

const results = await runSteps(STEPS);
const failed = STEPS.filter((_, i) => results[i]?.ok !== true).map((step) => step.name);
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
