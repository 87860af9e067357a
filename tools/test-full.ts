// `npm run test:full`: the tests that `npm test` runs in a short form. CI runs it after `npm test`.
import { full, runStep } from './checks/suite.ts';

process.exitCode = (await runStep(full)).ok ? 0 : 1;
