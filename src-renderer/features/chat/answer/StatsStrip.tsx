import { Button, Text, Tooltip } from '@mantine/core';
import { IconBolt, IconChartBar } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';
import { wasFullPrefill, type TtftComparison } from '../../../../src-shared/ttft.ts';
import { useAction } from '../../../client/context.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { FullPrefill } from './FullPrefill.tsx';
import { cachedChunks, comparedWithFull } from './speedup.ts';
import { TtftBar } from './TtftBar.tsx';
import classes from './Stats.module.css';

/** Two-line summary of an answer's statistics; the report has the details. */
export function StatsStrip({
  answerId,
  stats: kept,
  reportOpen,
  onReport,
}: {
  answerId: string;
  stats: AnswerStats;
  reportOpen: boolean;
  /** undefined: there is no report. */
  onReport: (() => void) | undefined;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const format = useFormat();
  const measure = useAction('chat.measureFullPrefill');
  const stats = measure.data ?? kept;
  const beside = comparedWithFull(stats);
  const fresh = stats.promptTokens - stats.residentTokens;
  return (
    <div className={classes.strip}>
      <div className={classes.first}>
        <Term term="ttft">
          <span className={classes.ttft}>
            <IconBolt size={17} aria-hidden />
            <strong>{format.duration(stats.ttftMs.total)}</strong> {t('stats.toFirstToken')}
          </span>
        </Term>
        <FullPrefill
          stats={stats}
          measuring={measure.isPending}
          onMeasure={() => measure.mutate({ answerId }, { onError: notifyFailure })}
        />
        {beside && <Speedup beside={beside} />}
        {onReport && (
          <Button
            className={classes.details ?? ''}
            size="compact-sm"
            variant={reportOpen ? 'light' : 'subtle'}
            leftSection={<IconChartBar size={15} aria-hidden />}
            aria-expanded={reportOpen}
            onClick={onReport}
          >
            {t(reportOpen ? 'stats.hideDetails' : 'common:action.details')}
          </Button>
        )}
      </div>
      <TtftBar ttft={stats.ttftMs} />
      {stats.residentTokens > 0 && (
        <Text className={classes.onlyNew}>
          {t('stats.onlyNew', {
            fresh: format.number(fresh),
            all: format.number(stats.promptTokens),
            resident: format.number(stats.residentTokens),
          })}
        </Text>
      )}
      <Counts stats={stats} />
    </div>
  );
}

function Speedup({ beside: { times, verdict } }: { beside: TtftComparison }) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const factor = verdict === 'later' ? 1 / times : times;
  const shown = { factor: format.number(factor, factor < 10 ? 1 : 0) };
  const className = verdict === 'sooner' ? classes.sooner : classes.later;
  return <span className={className}>{t(`stats.${verdict}`, shown)}</span>;
}

function Counts({ stats }: { stats: AnswerStats }) {
  const { t } = useTranslation(['chat', 'strategies', 'common']);
  const format = useFormat();
  const { cached, all } = cachedChunks(stats);
  const count = (tokens: number) => ({ value: format.number(tokens) });
  // If nothing was cached, nothing was blended, whatever the requested strategy.
  const name = wasFullPrefill(stats) ? 'full' : stats.strategy.name;
  const ratio = name === 'none' || name === 'full' ? undefined : stats.strategy.ratio;
  return (
    <ul className={classes.counts}>
      {stats.residentTokens > 0 && (
        <Count term="resident" color="resident" text={t('stats.resident', count(stats.residentTokens))} />
      )}
      {stats.reusedTokens > 0 && (
        <>
          <Count
            term="reused"
            color="disk"
            text={t('stats.reused', count(stats.reusedTokens - stats.recomputedTokens))}
          />
          <Count term="recomputed" color="hkvd" text={t('stats.recomputed', count(stats.recomputedTokens))} />
        </>
      )}
      <Count term="computed" color="computed" text={t('stats.computed', count(stats.computedTokens))} />
      {all > 0 && (
        <Count term="chunks" text={t('stats.chunks', { cached, all })} detail={<Tiers stats={stats} />} />
      )}
      <Count
        term="speed"
        text={t('common:unit.tokensPerSecond', { value: format.number(stats.tokensPerSecond, 1) })}
      />
      {stats.drafts && (
        <Count
          term="drafts"
          text={t('stats.drafts', {
            accepted: format.number(stats.drafts.accepted),
            drafted: format.number(stats.drafts.drafted),
          })}
        />
      )}
      <Count
        term="strategy"
        text={`${t(`strategies:${name}.name`)}${ratio === undefined ? '' : ` ${format.percent(ratio)}`}`}
      />
    </ul>
  );
}

/** Chunk hits by tier: one mark per chunk, in the tier's colour. */
function Tiers({ stats: { chunkHits } }: { stats: AnswerStats }) {
  const { t } = useTranslation('chat');
  const tiers = (['resident', 'device', 'ram', 'disk', 'shared', 'partial', 'computed'] as const).filter(
    (tier) => chunkHits[tier] > 0,
  );
  const words = tiers.map((tier) => `${t(`tier.${tier}`)} ${chunkHits[tier]}`).join(', ');
  return (
    <span className={classes.tiers} role="img" aria-label={words}>
      {tiers.map((tier) => (
        <span
          key={tier}
          style={{ flexGrow: chunkHits[tier], background: `var(--kv-${tier})` }}
          title={t(`tier.${tier}`)}
        />
      ))}
    </span>
  );
}

type TermName =
  | 'reused'
  | 'recomputed'
  | 'computed'
  | 'resident'
  | 'chunks'
  | 'speed'
  | 'drafts'
  | 'strategy'
  | 'ttft';

function Count({
  term,
  text,
  color,
  detail,
}: {
  term: TermName;
  text: string;
  color?: string;
  detail?: ReactNode;
}) {
  return (
    <li>
      <Term term={term}>
        <span className={classes.count}>
          {color !== undefined && (
            <span className={classes.dot} style={{ background: `var(--kv-${color})` }} />
          )}
          {text}
          {detail}
        </span>
      </Term>
    </li>
  );
}

/** A number with a tooltip that explains it; the help dialog explains it for keyboard users. */
function Term({ term, children }: { term: TermName; children: ReactNode }) {
  const { t } = useTranslation('chat');
  return (
    <Tooltip label={t(`term.${term}`)} multiline maw={320} openDelay={300}>
      {children}
    </Tooltip>
  );
}
