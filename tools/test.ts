// `npm test`: all tests, from a bare clone. Runs the checks of `npm run check`, unit tests, native tests, then end-to-end tests, which use the
// real command line, window and engine. The last line gives the numbers of passed and failed tests.
import { add, NONE, summaryLine } from './checks/counts.ts';
import { shareReadyData } from './checks/ready-data.ts';
import { CHECKS, e2e, native, runStep, runSteps, showFailures, unit, window } from './checks/suite.ts';

const first = [...CHECKS, unit];
// Each uses all cores, so they run alone.
const others = [native, window, e2e];
const results = await runSteps(first);
// The window's tests and the end-to-end tests begin with the same data folder.
const end = shareReadyData();
for (const step of others) results.push(await runStep(step));
end();

const steps = [...first, ...others];
const failedChecks = steps.filter((_, i) => {
  const result = results[i];
  return result !== undefined && !result.ok && (result.counts?.failed ?? 0) === 0;
});
const tests = add(...results.map((result) => result.counts ?? NONE));
// A failed check is not a test, but the summary must not end in "0 failed" then.
const counts = add(tests, { ...NONE, failed: failedChecks.length });

showFailures(steps, results);
console.log('');
if (failedChecks.length > 0) {
  console.log(`Counted as failed, though not tests: ${failedChecks.map((step) => step.name).join(', ')}.`);
}
if (counts.skipped > 0) console.log(`${counts.skipped} skipped.`);
if (counts.flaky > 0)
  console.log(`${counts.flaky} passed only on retry; the output above names them as flaky.`);
console.log(summaryLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;
