import { Anchor, Group, HoverCard, Stack, Text, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowUpRight, IconFileText } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Citation } from '../../../../src-shared/contract/chat.ts';
import type { FoundBy } from '../../../../src-shared/contract/search.ts';
import type { DocumentShare } from '../../../../src-shared/contract/context.ts';
import { Subtext } from '../../../ui/Subtext.tsx';
import { pageWords } from '../../../ui/page-words.ts';
import { Trail } from '../../../ui/Trail.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { Marked } from '../Marked.tsx';
import { groupSources, type SourcePlace } from './source-groups.ts';
import classes from './Sources.module.css';

/** The passages of an answer, by document; one at a time can be read in place. */
export function Sources({
  citations,
  shares,
  sent,
}: {
  citations: readonly Citation[];
  /** How much of each document they are; empty until the answer is finished. */
  shares: readonly DocumentShare[];
  /** Whether they were sent to a server as text, and therefore have no tier. */
  sent: boolean;
}) {
  const { t } = useTranslation('chat');
  const [open, setOpen] = useState<number>();
  const cardId = useId();
  const shown = open === undefined ? undefined : citations[open];
  if (citations.length === 0) return null;
  return (
    <div
      role="group"
      className={classes.sources}
      aria-label={t('sources.title', { count: citations.length })}
    >
      <Stack gap={6} component="ul">
        <li className={classes.whole}>
          <HowChosen citations={citations} />
        </li>
        {groupSources(citations).map(({ name, places }) => (
          <li key={places[0]?.index} className={classes.document}>
            <span className={classes.name}>
              <IconFileText size={15} aria-hidden />
              <span>{name}</span>
              {places.length > 1 && <span className={classes.count}>({places.length})</span>}
            </span>
            <ReadShare share={shares.find(({ path }) => path === places[0]?.citation.path)} />
            {places.map((place) => (
              <Source
                key={place.index}
                name={name}
                place={place}
                tier={!sent}
                open={open === place.index}
                cardId={cardId}
                onToggle={() => setOpen(open === place.index ? undefined : place.index)}
              />
            ))}
          </li>
        ))}
      </Stack>
      {shown && open !== undefined && (
        <div
          id={cardId}
          className={classes.card}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            setOpen(undefined);
          }}
        >
          <PassageHead citation={shown} />
          <Passage citation={shown} />
          {shown.foundBy && <Why foundBy={shown.foundBy} />}
        </div>
      )}
    </div>
  );
}

/** Why a passage was chosen: its words, and its place in each ranking. */
function Why({ foundBy: { words, fullText, vector, reranked } }: { foundBy: FoundBy }) {
  const { t } = useTranslation(['chat', 'search']);
  const format = useFormat();
  const rank = (place: number): string => format.number(place);
  const facts = [
    words.length > 0 && t('sources.words', { words: words.join(', ') }),
    fullText && t('search:fullText', { rank: rank(fullText.rank) }),
    vector && t('search:vector', { rank: rank(vector.rank) }),
    reranked &&
      `${t('search:reranked', { rank: rank(reranked.rank) })} (${format.number(reranked.score, 2)})`,
  ].filter((fact) => typeof fact === 'string');
  return (
    <Subtext mt={6}>
      {[t('sources.whyThis'), ...(facts.length > 0 ? facts : [t('sources.nearby')])].join(' · ')}
    </Subtext>
  );
}

/** How much of a document was read, in tokens. */
function ReadShare({ share }: { share: DocumentShare | undefined }) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (!share) return null;
  const { readTokens, tokens } = share;
  const words = { read: format.number(readTokens), tokens: format.number(tokens) };
  return (
    <span className={classes.share}>
      {readTokens === tokens
        ? t('sources.readAll', words)
        : t('sources.read', { ...words, share: format.percent(readTokens / tokens) })}
    </span>
  );
}

/** How many passages match, and why there are no more. */
function HowChosen({ citations }: { citations: readonly Citation[] }) {
  const { t } = useTranslation('chat');
  const found = citations.filter((citation) => computedFrom(citation) === undefined);
  if (found.every(({ reason }) => reason === 'whole-document'))
    return t('sources.whole', { count: new Set(found.map(({ path }) => path)).size });
  if (found.some(isOpening)) return t('sources.openings');
  const matches = found.filter(({ reason }) => reason.startsWith('match')).length;
  const around = found.length - matches;
  return (
    <>
      {t('sources.matches', { count: matches })}
      {around > 0 && ` · ${t('sources.around', { count: around })}`}
      <br />
      {t('sources.why')}
    </>
  );
}

function isOpening({ reason }: Citation): boolean {
  return reason === 'opening' || reason === 'outline';
}

/** How many rows of a table a passage was computed from; undefined for a passage of a document. */
function computedFrom({ reason }: Citation): number | undefined {
  const rows = /^computed (\d+)$/.exec(reason)?.[1];
  return rows === undefined ? undefined : Number(rows);
}

/** One passage: its number among the sources, and its location in the document. */
function Source({
  name,
  place: { citation, index, section },
  tier,
  open,
  cardId,
  onToggle,
}: {
  name: string;
  place: SourcePlace;
  tier: boolean;
  open: boolean;
  cardId: string;
  onToggle: () => void;
}) {
  const { t } = useTranslation('chat');
  const rows = computedFrom(citation);
  return (
    <HoverCard width={420} shadow="md" openDelay={500} disabled={open} position="bottom-start" withinPortal>
      <HoverCard.Target>
        <UnstyledButton
          className={classes.source}
          aria-expanded={open}
          aria-controls={open ? cardId : undefined}
          onClick={onToggle}
        >
          <span className={classes.number}>{index + 1}</span>
          <VisuallyHidden>{name}</VisuallyHidden>
          {rows !== undefined && (
            <span className={classes.section}>{t('sources.computed', { count: rows })}</span>
          )}
          {citation.reason === 'outline' && <span className={classes.section}>{t('sources.outline')}</span>}
          {rows === undefined && section !== '' && citation.reason !== 'outline' && (
            <span className={classes.section}>
              <Trail text={section} />
            </span>
          )}
          {citation.page !== null && (
            <span className={classes.page}>
              {pageWords(citation.page, (page) => t('sources.page', { page }))}
            </span>
          )}
          {tier && rows === undefined && <Tier tier={citation.tier} />}
        </UnstyledButton>
      </HoverCard.Target>
      {/* It may cover buttons; clicks pass through. */}
      <HoverCard.Dropdown style={{ pointerEvents: 'none' }}>
        <Subtext truncate>{citation.path}</Subtext>
        <div className={classes.preview}>
          <Passage citation={citation} />
        </div>
      </HoverCard.Dropdown>
    </HoverCard>
  );
}

function Tier({ tier }: { tier: Citation['tier'] }) {
  const { t } = useTranslation('chat');
  return (
    <span className={classes.tier} title={t(`tierHelp.${tier}`)}>
      <span style={{ background: `var(--kv-${tier})` }} />
      {t(`tier.${tier}`)}
    </span>
  );
}

function PassageHead({ citation }: { citation: Citation }) {
  const { t } = useTranslation('chat');
  const { documentId, path, start, end } = citation;
  return (
    <Group justify="space-between" gap="xs" mb={6}>
      <Group gap={6} wrap="nowrap" miw={0}>
        <IconFileText size={16} aria-hidden />
        <Text c="dimmed" truncate>
          {path}
        </Text>
      </Group>
      {documentId === null ? (
        <Text c="dimmed">{t('sources.gone')}</Text>
      ) : (
        <Anchor component={Link} href={`/document/${documentId}?start=${start}&end=${end}`}>
          {t('sources.open')} <IconArrowUpRight size={14} aria-hidden />
        </Anchor>
      )}
    </Group>
  );
}

function Passage({ citation }: { citation: Citation }) {
  return (
    <p className={classes.passage}>
      <Marked text={citation.text} ranges={citation.highlights} />
    </p>
  );
}
