import { Button, Group, Text } from '@mantine/core';
import { IconArrowsDiff } from '@tabler/icons-react';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import { compareTtft, wasFullPrefill } from '../../../src-shared/ttft.ts';
import { Subtext } from '../../ui/Subtext.tsx';
import section from './Section.module.css';
import classes from './Summary.module.css';
import legend from './legend.module.css';
import race from './race.module.css';
import * as captions from './captions.ts';
import { Measure } from './Measure.tsx';
import { compositionOf, type Composition } from './model.ts';
import type { Words } from './useWords.ts';

interface SummaryProps {
  conversationId: string;
  report: FusionReport;
  words: Words;
}

/** The time to first token compared with a full prefill, and a summary in words. */
export function Summary({
  conversationId,
  report,
  words,
  onCompare,
}: SummaryProps & { onCompare: (() => void) | undefined }) {
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
      <Subtext>{t('summary.ttft')}</Subtext>
      <Group gap="md" align="baseline">
        <span className={classes.ttft}>{format.duration(ttftMs.total)}</span>
        <span className={classes.speedUp} data-slower={compareTtft(report)?.verdict === 'later'}>
          {captions.comparison(report, words)}
        </span>
      </Group>
      <Race conversationId={conversationId} report={report} words={words} />
      <Text className={section.lead}>{captions.summary(report, words)}</Text>
      <CompositionBar composition={compositionOf(report)} words={words} />
      {report.plan && <Text className={classes.plan}>{captions.plan(report.plan, model, words)}</Text>}
      {onCompare && (
        <Button
          size="compact-xs"
          variant="light"
          mt={10}
          leftSection={<IconArrowsDiff size={14} aria-hidden />}
          onClick={onCompare}
        >
          {t('compare:open')}
        </Button>
      )}
      <Subtext mt={8}>
        {t(strategy.name === 'none' || strategy.name === 'full' ? 'meta' : 'metaRatio', meta)}
      </Subtext>
    </header>
  );
}

/** Both times as bars on one scale; the part that both need has a lighter shade. */
function Race({ conversationId, report, words }: SummaryProps) {
  const { t, format } = words;
  const { ttftMs, fullPrefillMeasured } = report;
  const isFull = wasFullPrefill(report);
  const beside = isFull ? null : compareTtft(report);
  const shared = beside?.sharedMs ?? 0;
  const kind = t(fullPrefillMeasured ? 'summary.measured' : 'summary.estimated');
  const longest = Math.max(ttftMs.total, beside?.fullTtftMs ?? 0);
  if (isFull) return null; // Already shown above, and there is nothing to compare it with.
  return (
    <>
      <div className={race.race}>
        <span>{t('summary.thisAnswer')}</span>
        <Runner parts={[shared, ttftMs.total - shared]} longest={longest} colour="var(--kv-accent)" />
        <span className={race.raceValue}>{format.duration(ttftMs.total)}</span>
        <span>{t('summary.fullPrefill')}</span>
        <Runner
          parts={beside ? [shared, beside.fullTtftMs - shared] : []}
          longest={longest}
          colour="var(--kv-muted)"
        />
        <span className={race.raceValue}>
          {beside ? format.duration(beside.fullTtftMs) : '–'}{' '}
          {beside && (
            <Text span size="xs" c="dimmed">
              {kind}
            </Text>
          )}
          {!fullPrefillMeasured && (
            <Measure conversationId={conversationId} answerId={report.answerId} words={words} />
          )}
        </span>
      </div>
      {beside && (
        <Subtext mb={10}>
          {t('summary.shared', {
            shared: format.duration(shared),
            full: format.duration(beside.fullTtftMs - shared),
            kind,
          })}
        </Subtext>
      )}
    </>
  );
}

/** The shared part, then the part specific to this bar. */
function Runner({ parts, longest, colour }: { parts: readonly number[]; longest: number; colour: string }) {
  return (
    <div className={race.track}>
      {parts.map((ms, part) => (
        <div
          key={part}
          className={race.runner}
          data-shared={part === 0}
          style={{ width: `${(ms / Math.max(1e-9, longest)) * 100}%`, background: colour }}
        />
      ))}
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

/** The prompt's tokens by origin; the legend is the text alternative. */
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
            <span className={legend.swatch} style={{ background: COLOURS[part] }} aria-hidden />
            {t(`summary.${part}`)} {format.number(composition[part])}
          </li>
        ))}
      </ul>
    </>
  );
}
