import { expect, test } from 'vitest';
import type { PrecomputePlan } from '../../../src-shared/contract/libraries.ts';
import { planSentence } from './prepare.ts';

const PLAN: PrecomputePlan = {
  ...{ tokens: 40_000, dtype: 'f16', seconds: null, budgetShare: 0.5, proposal: null },
  bytes: { f16: 40e9, q8_0: 21e9, k8v4: 16e9, q4: 12e9 },
};

test('the sentence before computing names a proposed budget that would hold more', () => {
  expect(planSentence(PLAN)).toMatch(/the disk budget holds 50 % of it\.$/);
  expect(planSentence({ ...PLAN, proposal: { bytes: 30e9, share: 0.759 } })).toMatch(
    /holds 50 % of it\. Proposed for this disk: 30\.0 GB \(setting diskBudgetBytes\), which would hold 75 %\.$/,
  );
});
