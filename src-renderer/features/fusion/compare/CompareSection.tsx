import { Button, Collapse, Group, Progress, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedMethod, Comparison } from '../../../../src-shared/comparison.ts';
import type { FusionReport } from '../../../../src-shared/fusion-report.ts';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { bars } from '../../../viz/bars.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { PictureView } from '../../../viz/PictureView.tsx';
import { STAGE_COLOURS, STAGES } from '../../../viz/stages.ts';
import type { ItemNote } from '../../../viz/Tip.tsx';
import classes from './CompareSection.module.css';
import legend from '../legend.module.css';
import { Section } from '../Section.tsx';
import type { Files } from '../useFiles.ts';
import type { Words } from '../useWords.ts';
import { CompareStart } from './CompareStart.tsx';
import { methodsCsv } from './csv.ts';
import { comparisonCaption } from './captions.ts';
import { MethodCard } from './MethodCard.tsx';
import { barRows, fullOf, nameOf, qualityRows } from './methods.ts';
import type { CompareProgress, ComparisonState } from './useComparison.ts';

interface CompareSectionProps {
  report: FusionReport;
  state: ComparisonState;
  words: Words;
  files: Files;
}

/** The same prompt processed with several methods, side by side. Started by a button and stored with the answer. */
export function CompareSection({ report, state, words, files }: CompareSectionProps) {
  const { t } = words;
  const { i18n } = useTranslation();
  const { comparison } = state;
  const lead = comparison ? comparisonCaption(comparison, words, i18n.language) : t('compare:intro');
  const head = <Head report={report} state={state} words={words} />;
  if (!comparison)
    return (
      <Section name="compare" title={t('compare:title')} lead={lead} wide>
        {head}
      </Section>
    );
  const plate = () => ({
    title: t('compare:title'),
    caption: lead,
    picture: bars(barRows(comparison, words)),
  });
  return (
    <Section
      name="compare"
      title={t('compare:title')}
      lead={lead}
      wide
      table={
        <>
          <MethodTable comparison={comparison} words={words} />
          {head}
        </>
      }
      onPng={() => files.png('comparison', [plate()])}
      onCsv={() => files.csv('comparison', methodsCsv(comparison, words))}
      onJson={() => files.json('comparison', comparison)}
    >
      <MethodPicture comparison={comparison} words={words} />
      <StageLegend comparison={comparison} words={words} />
      <Methods comparison={comparison} words={words} />
      <ComparisonProps comparison={comparison} words={words} />
      {head}
    </Section>
  );
}

/** The start form, or the progress. */
function Head({ report, state, words }: Omit<CompareSectionProps, 'files'>) {
  const { t } = words;
  const { comparison, error, progress } = state;
  const [open, { toggle }] = useDisclosure();
  if (error) return <FailureAlert failure={error} onRetry={state.retry} />;
  if (progress)
    return <Running progress={progress} stop={state.stop} stopping={state.stopping} words={words} />;
  if (comparison === undefined) return null;
  const start = (
    <CompareStart report={report} words={words} again={comparison !== null} onStart={state.start} />
  );
  if (comparison === null) return start;
  return (
    <div>
      <Button size="compact-xs" variant="subtle" aria-expanded={open} onClick={toggle}>
        {t('compare:anew')}
      </Button>
      <Collapse expanded={open}>{start}</Collapse>
    </div>
  );
}

function Running({
  progress: { done, total, leftMs },
  stop,
  stopping,
  words: { t, format },
}: {
  progress: CompareProgress;
  stop: () => void;
  stopping: boolean;
  words: Words;
}) {
  const parts = [
    t('compare:running'),
    ...(total > 0 ? [t('compare:runningOf', { done: Math.min(total, Math.floor(done) + 1), total })] : []),
    ...(leftMs === null ? [] : [t('common:unit.timeLeft', { time: format.duration(leftMs) })]),
  ];
  return (
    <Group gap="sm" wrap="nowrap">
      <Stack gap={4} flex={1}>
        <Text role="status">{parts.join(' · ')}</Text>
        <Progress value={total > 0 ? (done / total) * 100 : 0} size="sm" aria-label={t('compare:running')} />
      </Stack>
      <Button size="xs" variant="default" loading={stopping} onClick={stop}>
        {t('common:action.cancel')}
      </Button>
    </Group>
  );
}

interface ComparisonProps {
  comparison: Comparison;
  words: Words;
}

function MethodPicture({ comparison, words }: ComparisonProps) {
  const { t } = words;
  const { methods } = comparison;
  const picture = useMemo(() => bars(barRows(comparison, words)), [comparison, words]);
  return (
    <PictureView
      picture={picture}
      label={t('compare:picture')}
      note={(item) => methods[item] && noteOf(methods[item], words)}
    />
  );
}

function noteOf(method: ComparedMethod, words: Words): ItemNote {
  const { t, format } = words;
  const { ttftMs } = method;
  return {
    title: `${nameOf(method, words)}: ${format.duration(ttftMs.total)}`,
    rows: STAGES.filter((stage) => ttftMs[stage] > 0).map((stage) => [
      t(`stages:${stage}.name`),
      format.duration(ttftMs[stage]),
    ]),
  };
}

function Methods({ comparison, words }: ComparisonProps) {
  const full = fullOf(comparison);
  return (
    <div className={classes.methods}>
      {comparison.methods.map((method, i) => (
        <MethodCard key={i} method={method} reference={full ?? method} words={words} />
      ))}
    </div>
  );
}

function ComparisonProps({
  comparison: { madeMs, device, answerTokens },
  words: { t, format },
}: ComparisonProps) {
  return (
    <Subtext>
      {t('compare:made', { ago: format.ago(madeMs), device, tokens: format.number(answerTokens) })}
    </Subtext>
  );
}

const ROWS = ['ttft', 'resident', 'recomputed', 'kl', 'agrees', 'f1'] as const;

function MethodTable({ comparison: { methods }, words }: ComparisonProps) {
  const { t, format } = words;
  return (
    <DataTable
      label={t('compare:title')}
      columns={[
        { name: t('compare:row.way') },
        ...ROWS.map((row) => ({ name: t(`compare:row.${row}`), numeric: true })),
        { name: t('compare:row.text') },
      ]}
      rows={methods.length}
      cells={(row) => {
        const method = methods[row];
        if (!method) return [];
        const found = new Map([
          [t('compare:row.ttft'), format.duration(method.ttftMs.total)],
          ...qualityRows(method, words),
        ]);
        return [
          nameOf(method, words),
          ...ROWS.map((name) => found.get(t(`compare:row.${name}`)) ?? ''),
          method.text,
        ];
      }}
    />
  );
}

/** Legend of the bars; omits stages that took no time with any method. */
function StageLegend({ comparison: { methods }, words: { t } }: { comparison: Comparison; words: Words }) {
  const shown = STAGES.filter((stage) => methods.some(({ ttftMs }) => ttftMs[stage] > 0));
  return (
    <div className={legend.legend} role="list" aria-label={t('compare:legend')}>
      {shown.map((stage) => (
        <span key={stage} role="listitem">
          <span
            className={legend.swatch}
            style={{ background: `var(--kv-${STAGE_COLOURS[stage]})` }}
            aria-hidden
          />
          {t(`stages:${stage}.name`)}
        </span>
      ))}
    </div>
  );
}
