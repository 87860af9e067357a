import { Button, Checkbox, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { FusionReport } from '../../../../src-shared/fusion-report.ts';
import {
  DEFAULT_RATIO,
  STRATEGY_NAMES,
  takesRatio,
  type StrategyChoice,
  type StrategyName,
} from '../../../../src-shared/strategy.ts';
import { Subtext } from '../../../ui/Subtext.tsx';
import classes from './CompareStart.module.css';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import type { Words } from '../useWords.ts';
import { leastMs } from './estimate.ts';

const OFFERED = STRATEGY_NAMES.filter(takesRatio);
const RATIOS = [0.1, DEFAULT_RATIO, 0.3, 0.5];

interface CompareStartProps {
  report: FusionReport;
  words: Words;
  /** Whether a comparison exists. */
  again: boolean;
  onStart: (wish: { strategies: StrategyChoice[]; deep: boolean }) => void;
}

/** Methods to compare, and the minimum duration. */
export function CompareStart({ report, words, again, onStart }: CompareStartProps) {
  const { t } = words;
  const own = report.strategy;
  const [names, setNames] = useState<string[]>([]);
  const [ratio, setRatio] = useState(DEFAULT_RATIO);
  const [deep, setDeep] = useState(false);
  const isOwn = (name: StrategyName) => name === own.name && Math.abs(own.ratio - ratio) < 0.001;
  const strategies = OFFERED.filter((name) => names.includes(name) && !isOwn(name)).map((name) => ({
    name,
    ratio,
  }));
  return (
    <Stack gap={12} py={4}>
      <fieldset className={classes.fieldset}>
        <Text size="xs" c="dimmed" component="legend">
          {t('compare:also')}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={t('compare:ratio')}
          value={String(ratio)}
          onChange={(value) => setRatio(Number(value))}
          data={RATIOS.map((value) => ({ value: String(value), label: words.share(value) }))}
        />
        {OFFERED.map((name) => (
          <Checkbox
            key={name}
            size="xs"
            label={t(`strategies:${name}.name`)}
            disabled={isOwn(name)}
            checked={isOwn(name) || names.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              setNames((old) => (checked ? [...old, name] : old.filter((kept) => kept !== name)))
            }
          />
        ))}
      </fieldset>
      <Checkbox
        size="xs"
        label={t('compare:deep')}
        description={t('compare:deepHelp')}
        checked={deep}
        onChange={({ currentTarget: { checked } }) => setDeep(checked)}
      />
      <Group gap="sm">
        <Button
          size="xs"
          variant={again ? 'default' : 'filled'}
          onClick={() => onStart({ strategies, deep })}
        >
          {t(again ? 'compare:again' : 'compare:start')}
        </Button>
        <Subtext flex={1}>{expectation(report, { more: strategies.length, deep }, words)}</Subtext>
      </Group>
    </Stack>
  );
}

function expectation(report: FusionReport, wish: { more: number; deep: boolean }, words: Words): string {
  const { t, format } = words;
  const least = leastMs(report, wish);
  return joinSentences([
    least === null ? t('compare:unknownTime') : t('compare:least', { time: format.duration(least) }),
    ...(wish.deep ? [t('compare:deepTime')] : []),
    t('compare:meanwhile'),
  ]);
}
