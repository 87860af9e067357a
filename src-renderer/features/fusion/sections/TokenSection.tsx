import { Button, Group } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useMemo, type Ref } from 'react';
import { DataTable } from '../../../viz/DataTable.tsx';
import { visible } from '../../../viz/tokens/layout.ts';
import { TokenMap, type TokenMapHandle } from '../../../viz/tokens/TokenMap.tsx';
import { CheckSwitch } from '../CheckSwitch.tsx';
import legend from '../legend.module.css';
import classes from './TokenSection.module.css';
import { Keys } from '../Keys.tsx';
import * as captions from '../captions.ts';
import type { CheckView } from '../model.ts';
import { setScale } from '../panel-state.ts';
import { partTitle, tokenMapData } from '../pictures.ts';
import type { DeviationScale, ScaleKind } from '../scale.ts';
import { ScaleLegend, ScaleSwitch } from '../ScaleSwitch.tsx';
import { Section } from '../Section.tsx';
import { TokenNote, tokenSentence } from '../TokenNote.tsx';
import type { Words } from '../useWords.ts';
import type { SectionData } from './section-props.ts';

interface TokenSectionProps extends SectionData {
  check: CheckView | undefined;
  onCheck: (index: number) => void;
  scale: ScaleKind;
  handle: Ref<TokenMapHandle>;
}

/** The prompt's text, each token shaded by its deviation at a check. */
export function TokenSection({
  view,
  check,
  onCheck,
  scale: kind,
  handle,
  words,
  exports,
}: TokenSectionProps) {
  const { t } = words;
  const { data, scale } = useMemo(() => tokenMapData(view, check, kind, words), [view, check, kind, words]);
  const lead = captions.tokens(view, check, words);
  if (view.report.tokens.length === 0)
    return <Section name="tokens" title={t('tokens.title')} lead={lead} wide />;
  return (
    <Section
      name="tokens"
      title={t('tokens.title')}
      lead={lead}
      wide
      table={<TokenTable view={view} words={words} />}
      onPng={() => exports.png('tokens')}
      onCsv={() => exports.csv('tokens')}
    >
      <div className={legend.controls}>
        <Group gap="sm">
          <CheckSwitch view={view} check={check} onCheck={onCheck} words={words} />
          {check && <ScaleSwitch kind={kind} onChange={setScale} words={words} />}
        </Group>
        <CopyPrompt tokens={view.report.tokens} words={words} />
      </div>
      <Legend
        scale={check ? scale : null}
        outlined={view.recomputed !== null}
        hkvd={view.checks.length > 0}
        drops={check?.measure === 'deviation' && check !== view.checks.at(-1)}
        words={words}
      />
      <TokenMap
        data={data}
        label={t('tokens.map')}
        overviewLabel={t('tokens.overview')}
        note={(token) => <TokenNote view={view} token={token} words={words} />}
        speak={(token) => tokenSentence(view, check, token, words)}
        handle={handle}
      />
      <Keys text={t('tokens.keys')} />
    </Section>
  );
}

function CopyPrompt({ tokens, words: { t } }: { tokens: readonly string[]; words: Words }) {
  const clipboard = useClipboard();
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      leftSection={clipboard.copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
      onClick={() => clipboard.copy(tokens.join(''))}
    >
      {t(clipboard.copied ? 'common:action.copied' : 'tokens.copy')}
    </Button>
  );
}

function Legend({
  scale,
  outlined,
  hkvd,
  drops,
  words,
}: {
  /** null: no token is shaded. */
  scale: DeviationScale | null;
  /** Whether the report says which tokens were recomputed. */
  outlined: boolean;
  /** Whether tokens were selected by deviation. */
  hkvd: boolean;
  /** A later check may have dropped tokens that this one selected. */
  drops: boolean;
  words: Words;
}) {
  const { t } = words;
  return (
    <div className={legend.legend}>
      {scale && <ScaleLegend scale={scale} words={words} />}
      {outlined && (
        <span>
          <span className={classes.outlined} aria-hidden />
          {t(hkvd ? 'tokens.legendRecomputed' : 'tokens.legendRecomputedPlain')}
        </span>
      )}
      {drops && (
        <span>
          <span className={classes.outlined} data-faint aria-hidden />
          {t('tokens.legendDropped')}
        </span>
      )}
    </div>
  );
}

function TokenTable({ view, words }: Pick<SectionData, 'view' | 'words'>) {
  const { t, format, significant } = words;
  const { report, lenses, partOf } = view;
  return (
    <DataTable
      label={t('tokens.title')}
      columns={[
        { name: t('tokens.position'), numeric: true },
        { name: t('tokens.token') },
        { name: t('chunks.passage') },
        ...lenses.flatMap(({ measure, check: { layer } }) => [
          {
            name: measure === 'attention' ? t('tokens.attention') : t('tokens.deviationAt', { layer }),
            numeric: true,
          },
          {
            name: measure === 'attention' ? t('tokens.rankAttention') : t('tokens.rankAt', { layer }),
            numeric: true,
          },
          { name: measure === 'attention' ? t('chunks.recomputed') : t('tokens.chosen', { layer }) },
        ]),
      ]}
      rows={report.tokens.length}
      cells={(token) => {
        const part = partOf(token);
        return [
          format.number(report.tokensStart + token),
          visible(report.tokens[token] ?? ''),
          part ? partTitle(part, words) : '',
          ...lenses.flatMap(({ deviation, rank, selected }) =>
            rank[token] === 0
              ? ['', '', '']
              : [
                  significant(deviation[token] ?? 0),
                  format.number(rank[token] ?? 0),
                  t(selected[token] === 1 ? 'tokens.yes' : 'tokens.no'),
                ],
          ),
        ];
      }}
    />
  );
}
