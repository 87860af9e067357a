import { Button, Stack } from '@mantine/core';
import { IconFileText, IconList, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { AnalysisSummary } from '../../../src-shared/contract/analysis.ts';
import { useCall } from '../../client/context.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import classes from './Analysis.module.css';

export function AnalysisList({ activeId }: { activeId: string }) {
  const { t } = useTranslation('analysis');
  const { data: analyses } = useCall('analysis.list');
  return (
    <aside className={classes.aside} aria-label={t('list.label')}>
      <Button
        component={Link}
        href="/analysis/new"
        variant={activeId === 'new' ? 'light' : 'default'}
        leftSection={<IconPlus size={16} aria-hidden />}
      >
        {t('new.title')}
      </Button>
      {analyses?.length === 0 && <p className={classes.none}>{t('list.none')}</p>}
      <Stack gap={2} component="ul">
        {analyses?.map((analysis) => (
          <li key={analysis.id}>
            <Row analysis={analysis} active={analysis.id === activeId} />
          </li>
        ))}
      </Stack>
    </aside>
  );
}

function Row({ analysis, active }: { analysis: AnalysisSummary; active: boolean }) {
  const { t } = useTranslation(['analysis', 'common']);
  const format = useFormat();
  const { id, kind, title, instruction, state, steps, stepsDone, createdMs } = analysis;
  const Icon = kind === 'document' ? IconFileText : IconList;
  const done = t('common:unit.of', { done: format.number(stepsDone), total: format.number(steps) });
  return (
    <Link
      href={`/analysis/${encodeURIComponent(id)}`}
      className={classes.row}
      aria-current={active ? 'page' : undefined}
    >
      <span className={classes.rowTitle}>
        <Icon size={15} aria-hidden />
        <span title={title}>{title}</span>
      </span>
      <span className={classes.rowText}>
        {kind === 'document' ? instruction : t('list.questions', { count: steps })}
      </span>
      <span className={classes.rowText} data-state={state}>
        {state === 'done' ? format.ago(createdMs) : `${t(`state.${state}`)} · ${done}`}
      </span>
    </Link>
  );
}
