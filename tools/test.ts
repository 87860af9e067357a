// `npm test`: all tests, from a bare clone. Runs the checks of `npm run check`, unit tests, native tests, then end-to-end tests, which use the
// real command line, window and engine. The last line gives the numbers of passed and failed tests.
import { add, NONE, summaryLine } from './checks/counts.ts';
import { halvesOfCores } from './checks/halves.ts';
import { CHECKS, e2e, native, runStep, runSteps, unit, window } from './checks/suite.ts';

// They spend most of their time starting programs and waiting for them: run in parallel, each on half of the cores, they take little longer
// than the longer of the two.
const programs = [e2e, window];

const first = [...CHECKS, unit];
const results = await runSteps(first);
// Uses every core, so it must run alone.
results.push(await runStep(native));
const halves = await halvesOfCores();
if (halves) results.push(...(await Promise.all(programs.map((step, i) => runStep(step, halves[i])))));
else for (const step of programs) results.push(await runStep(step));

const failedChecks = [...first, native, ...programs].filter((_, i) => {
  const result = results[i];
  return result !== undefined && !result.ok && (result.counts?.failed ?? 0) === 0;
});
const tests = add(...results.map((result) => result.counts ?? NONE));
// A failed check is not a test, but the summary must not end in "0 failed" then.
const counts = add(tests, { ...NONE, failed: failedChecks.length });

console.log('');
if (failedChecks.length > 0) {
  console.log(`Counted as failed, though not tests: ${failedChecks.map((step) => step.name).join(', ')}.`);
}
if (counts.skipped > 0) console.log(`${counts.skipped} skipped.`);
if (counts.flaky > 0)
  console.log(`${counts.flaky} passed only on retry; the output above names them as flaky.`);
console.log(summaryLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;
