import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { NoticeText } from '../../ui/NoticeText.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { RepeatStep, ContinueStep } from './StepActions.tsx';
import { reuseOf } from './figures.ts';
import { StepText } from './StepCard.tsx';
import { StepSources } from './StepSources.tsx';
import classes from './Analysis.module.css';

/** One row per question, filled in as answers arrive. */
export function QuestionTable({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation(['analysis', 'common']);
  return (
    <div className={classes.tableFrame}>
      <table className={classes.table} aria-label={t('table.label')}>
        <thead>
          <tr>
            <th scope="col">{t('common:table.number')}</th>
            <th scope="col">{t('table.question')}</th>
            <th scope="col">{t('table.answer')}</th>
            <th scope="col">{t('table.sources')}</th>
            <th scope="col">{t('table.cost')}</th>
          </tr>
        </thead>
        <tbody>
          {analysis.steps.map((step, index) => (
            <Row key={step.id} analysis={analysis} step={step} number={index + 1} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ analysis, step, number }: { analysis: Analysis; step: Step; number: number }) {
  const { question, failure, notices, state } = step;
  return (
    <tr data-state={state}>
      <td>{number}</td>
      <th scope="row">{question}</th>
      <td>
        <StepText step={step} />
        {failure && <FailureAlert failure={failure} />}
        {notices
          .filter(({ kind }) => kind !== 'plain-prompt')
          .map((notice) => (
            <div key={notice.message} className={classes.notice}>
              <NoticeText notice={notice} />
            </div>
          ))}
        <ContinueStep analysis={analysis} step={step} />
      </td>
      <td>
        <StepSources step={step} name={question} />
      </td>
      <td>
        <Cost analysis={analysis} step={step} />
      </td>
    </tr>
  );
}

function Cost({ analysis, step }: { analysis: Analysis; step: Step }) {
  const { t } = useTranslation(['analysis', 'common']);
  const format = useFormat();
  const { tokens, reused } = reuseOf([step]);
  const share = format.percent(tokens > 0 ? reused / tokens : 0);
  return (
    <div className={classes.cost}>
      {step.stats && (
        <span title={t('step.reuse', { share, tokens: t('common:unit.tokens', { count: tokens }) })}>
          <strong>{format.duration(step.stats.ttftMs.total)}</strong>
          <span>{share}</span>
        </span>
      )}
      <RepeatStep analysis={analysis} step={step} name={step.question} />
    </div>
  );
}
