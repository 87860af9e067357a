import { Button, Group, Text } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import classes from './FusionPanel.module.css';
import * as leads from './leads.ts';
import { Measure } from './Measure.tsx';
import { compositionOf, speedUp, type Composition } from './model.ts';
import type { Words } from './useWords.ts';

export interface SummaryProps {
  conversationId: string;
  report: FusionReport;
  words: Words;
}

/** The time to the first token beside what a full prefill takes, and what happened in plain words. */
export function Summary({
  conversationId,
  report,
  words,
  onCompare,
}: SummaryProps & { onCompare: () => void }) {
  const { t, format } = words;
  const { ttftMs, strategy, model, layerCount, dtype } = report;
  const meta = {
    model,
    layers: layerCount,
    dtype,
    strategy: t(`strategies:${strategy.name}.name`),
    ratio: format.percent(strategy.ratio),
  };
  return (
    <header className={classes.summary}>
      <Text size="xs" c="dimmed">
        {t('summary.ttft')}
      </Text>
      <Group gap="md" align="baseline">
        <span className={classes.ttft}>{format.duration(ttftMs.total)}</span>
        <span className={classes.speedUp} data-slower={(speedUp(report) ?? 1) < 1}>
          {leads.comparison(report, words)}
        </span>
      </Group>
      <Race conversationId={conversationId} report={report} words={words} />
      <Text size="sm" className={classes.lead}>
        {leads.summary(report, words)}
      </Text>
      <CompositionBar composition={compositionOf(report)} words={words} />
      {report.plan && (
        <Text size="sm" className={classes.plan}>
          {leads.plan(report.plan, words)}
        </Text>
      )}
      <Button
        size="compact-xs"
        variant="light"
        mt={10}
        leftSection={<IconArrowsDiff size={14} aria-hidden />}
        onClick={onCompare}
      >
        {t('compare:open')}
      </Button>
      <Text size="xs" c="dimmed" mt={8}>
        {t(strategy.name === 'none' || strategy.name === 'full' ? 'meta' : 'metaRatio', meta)}
      </Text>
    </header>
  );
}

/** Both times as bars of one scale. */
function Race({ conversationId, report, words }: SummaryProps) {
  const { t, format } = words;
  const { ttftMs, fullPrefillMs, fullPrefillMeasured, strategy } = report;
  const longest = Math.max(ttftMs.total, fullPrefillMs ?? 0);
  const width = (ms: number) => `${(ms / Math.max(1e-9, longest)) * 100}%`;
  return (
    <div className={classes.race}>
      <span>{t('summary.thisAnswer')}</span>
      <div className={classes.track}>
        <div
          className={classes.runner}
          style={{ width: width(ttftMs.total), background: 'var(--kv-accent)' }}
        />
      </div>
      <span className={classes.raceValue}>{format.duration(ttftMs.total)}</span>
      <span>{t('summary.fullPrefill')}</span>
      <div className={classes.track}>
        {fullPrefillMs !== null && (
          <div
            className={classes.runner}
            style={{ width: width(fullPrefillMs), background: 'var(--kv-muted)' }}
          />
        )}
      </div>
      <span className={classes.raceValue}>
        {fullPrefillMs === null ? '–' : format.duration(fullPrefillMs)}{' '}
        {fullPrefillMs !== null && (
          <Text span size="xs" c="dimmed">
            {t(fullPrefillMeasured ? 'summary.measured' : 'summary.estimated')}
          </Text>
        )}
        {!fullPrefillMeasured && strategy.name !== 'full' && (
          <Measure conversationId={conversationId} answerId={report.answerId} words={words} />
        )}
      </span>
    </div>
  );
}

const PARTS = [
  'resident',
  'reused',
  'recomputed',
  'computed',
] as const satisfies readonly (keyof Composition)[];
const COLOURS = {
  resident: 'var(--kv-resident)',
  reused: 'var(--kv-ram)',
  recomputed: 'var(--kv-hkvd)',
  computed: 'var(--kv-computed)',
};

/** The prompt's tokens by origin; its key is the text alternative. */
function CompositionBar({ composition, words: { t, format } }: { composition: Composition; words: Words }) {
  const shown = PARTS.filter((part) => composition[part] > 0);
  return (
    <>
      <div className={classes.composition} aria-hidden>
        {shown.map((part) => (
          <div key={part} style={{ flex: `${composition[part]} 0 2px`, background: COLOURS[part] }} />
        ))}
      </div>
      <ul className={classes.compositionKey} aria-label={t('summary.composition')}>
        {shown.map((part) => (
          <li key={part}>
            <span className={classes.swatch} style={{ background: COLOURS[part] }} aria-hidden />
            {t(`summary.${part}`)} {format.number(composition[part])}
          </li>
        ))}
      </ul>
    </>
  );
}
