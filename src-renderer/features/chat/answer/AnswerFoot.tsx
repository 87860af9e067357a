import { UnstyledButton } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { memo, useId, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { AnswerStats, Message } from '../../../../src-shared/contract/chat.ts';
import type { DocumentShare } from '../../../../src-shared/contract/context.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { ServerStats } from './ServerStats.tsx';
import { Sources } from './Sources.tsx';
import { comparedWithFull } from './speedup.ts';
import { StatsStrip } from './StatsStrip.tsx';
import classes from './AnswerFoot.module.css';

const NO_SHARES: readonly DocumentShare[] = [];

/** Speed and sources below an answer, as one line that expands. */
export function AnswerFoot({
  message: { id, citations, stats, hasReport },
  reportOpen,
  onReport,
  actions,
}: {
  message: Message;
  reportOpen: boolean;
  onReport: () => void;
  /** null while the answer is being generated. */
  actions: ReactNode;
}) {
  const { t } = useTranslation('chat');
  const [open, setOpen] = useState(false);
  const detailsId = useId();
  const summary = useSummary(stats, citations.length);
  return (
    <div data-on="screen" {...(stats && { role: 'group', 'aria-label': t('stats.label') })}>
      <div className={classes.line}>
        {summary !== '' && (
          <UnstyledButton
            className={classes.fold}
            aria-expanded={open}
            aria-controls={open ? detailsId : undefined}
            onClick={() => setOpen(!open)}
          >
            <IconChevronRight size={15} aria-hidden />
            {summary}
          </UnstyledButton>
        )}
        {actions}
      </div>
      {open && (
        <div id={detailsId}>
          <SteadySources
            citations={citations}
            shares={stats?.documents ?? NO_SHARES}
            sent={stats?.server !== undefined}
          />
          {stats?.server && <ServerStats stats={stats} />}
          {stats && !stats.server && (
            <StatsStrip
              answerId={id}
              stats={stats}
              reportOpen={reportOpen}
              onReport={hasReport ? onReport : undefined}
            />
          )}
        </div>
      )}
    </div>
  );
}

/** "5× sooner · 6 sources"; shows the time to the first word if blending was not faster. */
function useSummary(stats: AnswerStats | null, sources: number): string {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const parts: string[] = [];
  if (stats) {
    const beside = stats.server ? null : comparedWithFull(stats);
    parts.push(
      beside?.verdict === 'sooner'
        ? t('summary.sooner', { factor: format.number(beside.times, beside.times < 10 ? 1 : 0) })
        : t('summary.firstWord', { time: format.duration(stats.ttftMs.total) }),
    );
  }
  if (sources > 0) parts.push(t('sources.title', { count: sources }));
  return parts.join(' · ');
}

const SteadySources = memo(
  Sources,
  (a, b) =>
    a.sent === b.sent &&
    a.shares === b.shares &&
    a.citations.length === b.citations.length &&
    a.citations.every((citation, i) => citation === b.citations[i]),
);
