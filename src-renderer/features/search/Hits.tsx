import { Badge, Group, Stack, Tooltip } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { SearchHit } from '../../../src-shared/contract/search.ts';
import { Meter } from '../../ui/Meter.tsx';
import { pageWords } from '../../ui/page-words.ts';
import { Trail } from '../../ui/Trail.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { excerptOf, highlighted } from './highlight.ts';
import classes from './Search.module.css';

/**
 * Passages grouped by document, the document with the best passage first, each with its overall rank. Arrow keys move
 * between them; Enter opens one.
 */
export function Hits({
  hits,
  stale,
  usedVectors,
}: {
  hits: readonly SearchHit[];
  stale: boolean;
  usedVectors: boolean;
}) {
  const { t } = useTranslation(['search', 'common']);
  const best = Math.max(hits[0]?.score ?? 0, Number.MIN_VALUE);
  const documents = Map.groupBy(hits.entries(), ([, { documentId }]) => documentId);
  return (
    <ol className={classes.hits} aria-label={t('results')} aria-busy={stale} onKeyDown={moveFocus}>
      {[...documents].map(([documentId, found]) => (
        <li key={documentId}>
          <h2 className={classes.document}>
            {found[0]?.[1].path} <span>{t('common:unit.passages', { count: found.length })}</span>
          </h2>
          <ol className={classes.hits}>
            {found.map(([index, hit]) => (
              <li key={hit.chunkId}>
                <Hit hit={hit} rank={index + 1} share={hit.score / best} usedVectors={usedVectors} />
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ol>
  );
}

function Hit({
  hit,
  rank,
  share,
  usedVectors,
}: {
  hit: SearchHit;
  rank: number;
  share: number;
  usedVectors: boolean;
}) {
  const { t } = useTranslation(['search', 'common']);
  const format = useFormat();
  const { documentId, start, end, title, page, ordinal, tokens, score } = hit;
  const excerpt = excerptOf(hit.text, hit.highlights);
  const place = [
    ...(page === null ? [] : [pageWords(page, (label) => t('page', { page: label }))]),
    t('chunk', { number: format.number(ordinal + 1) }),
    t('common:unit.tokens', { count: tokens }),
  ];
  return (
    <Link
      href={`/document/${encodeURIComponent(documentId)}?start=${start}&end=${end}`}
      className={classes.hit}
      data-hit
    >
      <Group gap={12} wrap="nowrap">
        <span className={classes.rank} aria-label={t('rank', { rank })}>
          {format.number(rank)}
        </span>
        <Stack gap={0} flex={1} miw={0}>
          <span className={classes.title}>
            <Trail text={title} />
          </span>
          <span className={classes.place}>{place.join(' · ')}</span>
        </Stack>
        <div className={classes.score}>
          <Meter share={share} label={t('score', { score: format.number(score, 4) })} />
        </div>
      </Group>
      <p className={classes.passage}>
        {highlighted(excerpt.text, excerpt.ranges).map((part, index) =>
          part.marked ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
        )}
      </p>
      <Reasons hit={hit} usedVectors={usedVectors} />
    </Link>
  );
}

/** Its rank in each ranking. */
function Reasons({ hit, usedVectors }: { hit: SearchHit; usedVectors: boolean }) {
  const { t } = useTranslation('search');
  const format = useFormat();
  const { fullText, vector, reranked } = hit;
  const rank = (place: number): string => format.number(place);
  return (
    <div className={classes.reasons}>
      <Ranking
        label={fullText ? t('fullText', { rank: rank(fullText.rank) }) : t('notFullText')}
        help={fullText && t('fullTextHelp', { score: format.number(fullText.score, 2) })}
      />
      {usedVectors && (
        <Ranking
          label={vector ? t('vector', { rank: rank(vector.rank) }) : t('notVector')}
          help={vector && t('vectorHelp', { score: format.number(vector.score, 3) })}
        />
      )}
      {reranked && (
        <Ranking
          label={t('reranked', { rank: rank(reranked.rank) })}
          help={t('rerankedHelp', { score: format.number(reranked.score, 3) })}
        />
      )}
    </div>
  );
}

function Ranking({ label, help }: { label: string; help: string | null }) {
  const badge = (
    <Badge variant="default" size="md" tt="none" fw={400} {...(help === null && { c: 'dimmed' })}>
      {label}
    </Badge>
  );
  return help === null ? badge : <Tooltip label={help}>{badge}</Tooltip>;
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  const hits = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-hit]')];
  const next = hits[hits.indexOf(document.activeElement as HTMLElement) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}
