import { Badge, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedMethod } from '../../../../src-shared/comparison.ts';
import classes from './MethodCard.module.css';
import type { Words } from '../useWords.ts';
import { nameOf, qualityRows } from './methods.ts';
import { isSame, textDiff } from './text-diff.ts';

/** One way: its text with what differs from the full prefill's, and its numbers. */
export function MethodCard({
  method,
  reference,
  words,
}: {
  method: ComparedMethod;
  /** The full prefill's text. */
  reference: string;
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
          <Badge size="xs" variant="light" tt="none">
            {t('compare:answered')}
          </Badge>
        )}
      </h4>
      {method.kind === 'full' ? (
        <Text size="xs" c="dimmed">
          {t('compare:reference')}
        </Text>
      ) : (
        <Sameness method={method} reference={reference} words={words} />
      )}
      <MarkedText method={method} reference={reference} words={words} />
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

interface Shown {
  method: ComparedMethod;
  reference: string;
  words: Words;
}

function useRuns({ method, reference }: Pick<Shown, 'method' | 'reference'>) {
  const { i18n } = useTranslation();
  return useMemo(
    () => textDiff(reference, method.text, i18n.language),
    [reference, method.text, i18n.language],
  );
}

function Sameness({ method, reference, words: { t } }: Shown) {
  const same = isSame(useRuns({ method, reference }));
  return (
    <Text size="xs" c="dimmed">
      {t(same ? 'compare:sameText' : 'compare:otherText')}
    </Text>
  );
}

/** Words that only this text has are marked; those that only the full prefill's has are struck through. */
function MarkedText({ method, reference, words: { t } }: Shown) {
  const runs = useRuns({ method, reference });
  if (method.text.trim() === '')
    return (
      <Text size="sm" c="dimmed" fs="italic">
        {t('compare:noText')}
      </Text>
    );
  return (
    <p className={classes.methodText}>
      {runs.map(({ kind, text }, i) =>
        kind === 'same' ? (
          <span key={i}>{text}</span>
        ) : kind === 'added' ? (
          <ins key={i}>{text}</ins>
        ) : (
          <del key={i}>{text}</del>
        ),
      )}
      {!method.complete && <span aria-label={t('compare:cut')}> …</span>}
    </p>
  );
}
