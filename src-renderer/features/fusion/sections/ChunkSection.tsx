import { sum } from 'd3-array';
import { ActionIcon, Table, Tooltip, UnstyledButton } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { PromptPart } from '../../../../src-shared/fusion-report.ts';
import legend from '../legend.module.css';
import classes from './ChunkSection.module.css';
import table from '../table.module.css';
import { colourOf, partTitle, tierName } from '../pictures.ts';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import { Section } from '../Section.tsx';
import type { Words } from '../useWords.ts';
import type { SectionData } from './section-props.ts';

type Chunk = NonNullable<PromptPart['chunk']>;

/** Every passage: the tier of its cache, its positions, and its recomputed tokens. */
export function ChunkSection({
  view,
  words,
  exports,
  onShow,
}: SectionData & { onShow: (token: number) => void }) {
  const { t, format } = words;
  const parts = view.report.parts.flatMap((part) => (part.chunk ? [{ part, chunk: part.chunk }] : []));
  const count = (tier: Chunk['tier']) => parts.filter(({ chunk }) => chunk.tier === tier).length;
  const numbers = { ram: count('ram'), disk: count('disk'), computed: count('computed') };
  const { bytesLoaded, bytesCrossed = 0 } = view.report;
  const [onDevice, shared] = [count('device'), count('shared')];
  const inPart = parts.filter(({ chunk }) => chunk.match === 'partial');
  const reused = format.number(sum(inPart, ({ chunk }) => chunk.reusedTokens ?? 0));
  const tokens = format.number(sum(inPart, ({ part }) => part.tokens));
  const lead = joinSentences([
    parts.length === 0 ? t('chunks.none') : t('chunks.lead', { count: parts.length, ...numbers }),
    ...(inPart.length > 0 ? [t('chunks.leadInPart', { count: inPart.length, reused, tokens })] : []),
    ...(onDevice > 0 ? [t('chunks.leadDevice', { device: onDevice })] : []),
    ...(shared > 0 ? [t('chunks.leadShared', { shared })] : []),
    ...(bytesLoaded > 0 ? [t('chunks.bytes', { bytes: format.bytes(bytesLoaded) })] : []),
    ...(bytesCrossed > 0 ? [t('chunks.bytesCrossed', { bytes: format.bytes(bytesCrossed) })] : []),
  ]);
  return (
    <Section
      name="chunks"
      title={t('chunks.title')}
      lead={lead}
      wide
      onCsv={parts.length > 0 ? () => exports.csv('chunks') : undefined}
    >
      {parts.length > 0 && (
        <div className={table.tableScroll}>
          <Table className={table.table} verticalSpacing={5} horizontalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('chunks.passage')}</Table.Th>
                <Table.Th>{t('chunks.tier')}</Table.Th>
                <Table.Th ta="right">{t('chunks.tokens')}</Table.Th>
                <Table.Th ta="right">{t('chunks.recomputed')}</Table.Th>
                <Table.Th ta="right">{t('chunks.positions')}</Table.Th>
                <Table.Th ta="right">{t('chunks.bytesColumn')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {parts.map(({ part, chunk }) => (
                <ChunkRow
                  key={part.start}
                  part={part}
                  chunk={chunk}
                  words={words}
                  onShow={() => onShow(view.firstToken(part))}
                />
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Section>
  );
}

function tierOf({ tokens }: PromptPart, chunk: Chunk, words: Words) {
  const { t, format } = words;
  const { match, reusedTokens = 0 } = chunk;
  const name = tierName(chunk, words);
  if (match !== 'partial') return name;
  return t('chunks.inPart', {
    tier: name,
    reused: format.number(reusedTokens),
    tokens: format.number(tokens),
  });
}

function ChunkRow({
  part,
  chunk,
  words,
  onShow,
}: {
  part: PromptPart;
  chunk: Chunk;
  words: Words;
  onShow: () => void;
}) {
  const { t, format, share } = words;
  const title = partTitle(part, words);
  const ratio = chunk.recomputed / Math.max(1, part.tokens);
  return (
    <Table.Tr>
      <Table.Td>
        <UnstyledButton
          className={classes.passage}
          onClick={onShow}
          aria-label={t('chunks.showInMap', { title })}
          title={chunk.document}
        >
          {title}
        </UnstyledButton>
        {chunk.documentId !== null && (
          <Tooltip label={t('chunks.openDocument', { title: chunk.title })}>
            <ActionIcon
              component={Link}
              href={`/document/${encodeURIComponent(chunk.documentId)}`}
              size="xs"
              ml={6}
              aria-label={t('chunks.openDocument', { title: chunk.title })}
            >
              <IconExternalLink size={13} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
      <Table.Td>
        <span className={legend.swatch} style={{ background: `var(--kv-${colourOf(part)})` }} aria-hidden />
        {tierOf(part, chunk, words)}
      </Table.Td>
      <Table.Td ta="right">{format.number(part.tokens)}</Table.Td>
      <Table.Td ta="right">
        {chunk.tier === 'computed'
          ? t('chunks.allComputed')
          : `${format.number(chunk.recomputed)} · ${share(ratio)}`}
        <span className={classes.share} aria-hidden>
          <span
            style={{
              width: `${ratio * 100}%`,
              background: `var(--kv-${chunk.tier === 'computed' ? 'computed' : 'hkvd'})`,
            }}
          />
        </span>
      </Table.Td>
      <Table.Td ta="right">
        {format.number(part.start)}–{format.number(part.start + part.tokens - 1)}
      </Table.Td>
      <Table.Td ta="right">{chunk.bytes > 0 ? format.bytes(chunk.bytes) : '–'}</Table.Td>
    </Table.Tr>
  );
}
