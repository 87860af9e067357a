import { Badge, Text } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedMethod } from '../../../../src-shared/comparison.ts';
import { Subtext } from '../../../ui/Subtext.tsx';
import classes from './MethodCard.module.css';
import type { Words } from '../useWords.ts';
import { nameOf, qualityRows } from './methods.ts';
import { isSameWriting, textDiff } from './text-diff.ts';

/** One method: its text with the differences from the full prefill's text, and its numbers. */
export function MethodCard({
  method,
  reference,
  words,
}: {
  method: ComparedMethod;
  /** The full prefill. */
  reference: ComparedMethod;
  words: Words;
}) {
  const { t } = words;
  const name = nameOf(method, words);
  const rows = qualityRows(method, words);
  return (
    <article className={classes.method} aria-label={name} data-answered={method.answered}>
      <h4 className={classes.methodName}>
        {name}
        {method.answered && (
          <Badge size="xs" tt="none">
            {t('compare:answered')}
          </Badge>
        )}
      </h4>
      {method.kind === 'full' ? (
        <Subtext>{t('compare:reference')}</Subtext>
      ) : (
        <Sameness method={method} reference={reference} words={words} />
      )}
      {method.thought !== '' && (
        <details className={classes.thought}>
          <summary>{t('compare:thought')}</summary>
          <MarkedText text={method.thought} reference={reference.thought} />
        </details>
      )}
      <Answer method={method} reference={reference} words={words} />
      {rows.length > 0 && (
        <dl className={classes.methodRows}>
          {rows.map(([row, value]) => (
            <div key={row}>
              <dt>{row}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </article>
  );
}

interface MethodProps {
  method: ComparedMethod;
  reference: ComparedMethod;
  words: Words;
}

function Sameness({ method, reference, words: { t } }: MethodProps) {
  const { i18n } = useTranslation();
  const same = useMemo(
    () => isSameWriting(reference, method, i18n.language),
    [reference, method, i18n.language],
  );
  return <Subtext>{t(same ? 'compare:sameText' : 'compare:otherText')}</Subtext>;
}

function Answer({ method: { thought, text, complete }, reference, words: { t } }: MethodProps) {
  if (text.trim() === '')
    return (
      <Text c="dimmed" fs="italic">
        {t(thought === '' ? 'compare:noText' : 'compare:stillThinking')}
      </Text>
    );
  return (
    <MarkedText text={text} reference={reference.text}>
      {!complete && <span aria-label={t('compare:cut')}> …</span>}
    </MarkedText>
  );
}

/** Marks words that only this text has, and strikes through words that only the full prefill's text has. */
function MarkedText({
  text,
  reference,
  children,
}: {
  text: string;
  reference: string;
  children?: ReactNode;
}) {
  const { i18n } = useTranslation();
  const runs = useMemo(() => textDiff(reference, text, i18n.language), [reference, text, i18n.language]);
  return (
    <p className={classes.methodText}>
      {runs.map(({ kind, text: part }, i) =>
        kind === 'same' ? (
          <span key={i}>{part}</span>
        ) : kind === 'added' ? (
          <ins key={i}>{part}</ins>
        ) : (
          <del key={i}>{part}</del>
        ),
      )}
      {children}
    </p>
  );
}
