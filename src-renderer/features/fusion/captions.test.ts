import { beforeAll, describe, expect, test } from 'vitest';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import { namedReport } from '../../client/fixtures/named-reports.ts';
import { comparison, plan, summary } from './captions.ts';
import { strategyName } from './strategy-name.ts';
import type { Words } from './useWords.ts';
import { wordsOf } from './words.test-support.ts';

let words: Record<'en' | 'zh', Words>;
let report: FusionReport;

beforeAll(async () => {
  words = { en: await wordsOf('en'), zh: await wordsOf('zh') };
  report = namedReport('fusion-28')!;
});

describe('what is said of the time to the first token', () => {
  const said = (ttft: Partial<FusionReport['ttftMs']>, fullPrefillMs: number | null): string => {
    const none = { wait: 0, retrieve: 0, assemble: 0, acquire: 0, load: 0, place: 0, check: 0, recompute: 0, firstToken: 0, server: 0, other: 0 }; // prettier-ignore
    return comparison({ ...report, ttftMs: { ...none, total: 0, ...ttft }, fullPrefillMs }, words.en);
  };

  test('search counts for both', () => {
    expect(said({ total: 85, retrieve: 60, recompute: 25 }, 50)).toBe('1.3× faster than a full prefill');
    expect(said({ total: 85, retrieve: 60, recompute: 25 }, 27)).toBe('About as fast as a full prefill');
    expect(said({ total: 102, retrieve: 60, recompute: 42 }, 27)).toBe('1.2× slower than a full prefill');
  });

  test('what was computed in full is compared with nothing', () => {
    const full = { ...report, reusedTokens: 0, residentTokens: 0 };
    expect(comparison(full, words.en)).toBe('This is a full prefill');
    expect(said({ total: 85 }, null)).toBe('The time for a full prefill is not known yet.');
  });
});

test('what a prompt begins with was computed for another one, before this start, or both', () => {
  const said = (restoredTokens: number): string =>
    summary({ ...report, residentTokens: 128, prefixTokens: 128, restoredTokens }, words.en);
  expect(said(0)).toContain('for another prompt that begins with the same text');
  expect(said(128)).toContain(
    'Its first 128 were reused from disk, exactly as computed before Kvasir was last closed',
  );
  expect(said(64)).toContain('Its first 128 were reused exactly as computed earlier; 64 of them');
});

test('a model with a recurrent state continues from a checkpoint, in memory or on disk', () => {
  const made = { ...report.plan!, obstacle: 'running-state' } as const;
  const said = (restoredTokens: number, lang: 'en' | 'zh' = 'en'): string =>
    summary(
      { ...report, plan: made, residentTokens: 12_300, prefixTokens: 12_000, restoredTokens },
      words[lang],
    );
  expect(said(0)).toContain('Its first 12,300 were reused from memory, up to the checkpoint.');
  expect(said(12_300)).toContain(
    'Its first 12,300 were reused from disk, up to the checkpoint that was stored',
  );
  expect(said(0, 'zh')).toContain('开头直到检查点的 12,300 个');
});

test('a prompt of a model that cannot be blended says why it was computed', () => {
  const made = { ...report.plan!, wish: 'full', strategy: { name: 'full', ratio: 1 }, tier: null } as const;
  const notBlended = { ...made, reason: 'not-blended', obstacle: 'running-state' } as const;
  expect(plan(notBlended, 'Qwen3.6', words.en)).toContain(
    'Qwen3.6 keeps a recurrent state instead of a KV cache. Kvasir cannot blend its passages yet.',
  );
  expect(plan(notBlended, 'Qwen3.6', words.zh)).toContain('Qwen3.6 保存的是运行状态');
});

test('a strategy is named with its ratio first, then with where it checks', () => {
  const choice = { name: 'deviation' as const, ratio: 0.15, checkLayers: [2, 4] };
  expect(strategyName(choice, words.en)).toBe('Blend by deviation at 15%, checked at layers 2, 4');
  expect(strategyName(choice, words.zh)).toBe('按偏差融合，比例 15%，在第 2、4 层检查');
  expect(strategyName({ name: 'none', ratio: 0 }, words.en)).toBe('Reuse everything');
});
