import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Step, StepSource } from '../../../src-shared/contract/analysis.ts';
import { pageWords } from '../../ui/page-words.ts';
import { Trail } from '../../ui/Trail.tsx';
import classes from './Analysis.module.css';

/** Windows read many passages and table rows should stay short: more sources than this are collapsed. */
const SHOWN = 3;

/** The passages that a step read, each linked to its place in the document. */
export function StepSources({ step, name }: { step: Step; name: string }) {
  const { t } = useTranslation('analysis');
  const { sources } = step;
  if (sources.length === 0) return null;
  const list = (
    <ul className={classes.sources} aria-label={t('step.showSources', { step: name })}>
      {sources.map((source, index) => (
        <li key={index}>
          <Source source={source} />
        </li>
      ))}
    </ul>
  );
  if (sources.length <= SHOWN) return list;
  return (
    <details className={classes.folded}>
      <summary>{t('step.sources', { count: sources.length })}</summary>
      {list}
    </details>
  );
}

function Source({ source }: { source: StepSource }) {
  const { t } = useTranslation(['analysis', 'chat']);
  const { documentId, title, page, ordinal, quote, tier, start, end } = source;
  const place =
    page === null
      ? t('step.part', { number: ordinal + 1 })
      : pageWords(page, (label) => t('chat:sources.page', { page: label }));
  const chip = (
    <>
      <span className={classes.tier} style={{ background: `var(--kv-${tier})` }} />
      <span className={classes.sourceTitle}>
        <Trail text={title} />
      </span>
      <span className={classes.place}>{place}</span>
    </>
  );
  const help = documentId === null ? t('step.gone') : quote === '' ? title : `“${quote}”`;
  return (
    <Tooltip label={help} multiline maw={420}>
      {documentId === null ? (
        <span className={classes.source}>{chip}</span>
      ) : (
        <Link className={classes.source} href={`/document/${documentId}?start=${start}&end=${end}`}>
          {chip}
        </Link>
      )}
    </Tooltip>
  );
}
