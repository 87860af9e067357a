// `npm test`: everything, from a bare clone. The checks of `npm run check`, the native tests, then the end-to-end tests,
// which drive the real command line and the real window with the real engine. The last line says how many tests passed and failed.
import { add, NONE, summaryLine } from './checks/counts.ts';
import { halvesOfCores } from './checks/halves.ts';
import { CHECKS, e2e, native, runStep, runSteps, window } from './checks/suite.ts';

// They spend most of their time starting programs and waiting for them: each on half of the cores, they take little longer than
// the longer of them.
const programs = [e2e, window];

const results = await runSteps(CHECKS);
// It uses every core: nothing may run beside it.
results.push(await runStep(native));
const halves = await halvesOfCores();
if (halves) results.push(...(await Promise.all(programs.map((step, i) => runStep(step, halves[i])))));
else for (const step of programs) results.push(await runStep(step));

const failedChecks = [...CHECKS, native, ...programs].filter((_, i) => {
  const result = results[i];
  return result !== undefined && !result.ok && (result.counts?.failed ?? 0) === 0;
});
const tests = add(...results.map((result) => result.counts ?? NONE));
// A check that failed is no test, but a run with one must not end in "0 failed".
const counts = add(tests, { ...NONE, failed: failedChecks.length });

console.log('');
if (failedChecks.length > 0) {
  console.log(`Counted as failed, though not tests: ${failedChecks.map((step) => step.name).join(', ')}.`);
}
if (counts.skipped > 0) console.log(`${counts.skipped} skipped.`);
if (counts.flaky > 0)
  console.log(`${counts.flaky} passed only at the second try; they are named above as flaky.`);
console.log(summaryLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;
