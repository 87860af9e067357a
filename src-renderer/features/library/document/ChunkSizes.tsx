import { Button, Loader, NumberInput, Slider, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { fromSlider, SLIDER_STEPS, toSlider } from '../../../ui/log-scale.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { histogramOf, summaryOf } from './chunk-sizes.ts';
import { CutPreview } from './CutPreview.tsx';
import { useChunkSize } from '../../../ui/useChunkSize.ts';
import classes from './Document.module.css';

const LIMITS = { min: 16, max: 8192 };
const MARKS = [64, 256, 1024, 4096];
const DEFAULT_TOKENS = 512;
const MOVING_MS = 200;
const BARS = 24;

/** Previews chunk sizes on this document: boundaries, number and sizes of chunks. */
export function ChunkSizes({ document }: { document: DocumentInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const { data: settings } = useCall('settings.get');
  const [draft, setDraft] = useState<number>();
  const tokens = draft ?? settings?.chunkTokens ?? DEFAULT_TOKENS;
  const [chunkTokens] = useDebouncedValue(tokens, MOVING_MS);
  const preview = useCall(
    'chunking.preview',
    { chunkTokens, documentId: document.id },
    { keepPrevious: true, enabled: settings !== undefined },
  );
  const askUse = useChunkSize();
  const inUse = settings?.chunkTokens === tokens;
  const sizes = preview.data?.chunks.map((chunk) => chunk.tokens);
  return (
    <div className={classes.sizes}>
      <section className={classes.sizeControls} aria-label={t('document.views.sizes')}>
        <SizeInput tokens={tokens} onChange={setDraft} />
        <Subtext>
          {t('sizes.help')}{' '}
          {settings &&
            (settings.chunkTokens === undefined
              ? t('sizes.automatic')
              : t('sizes.current', { tokens: t('common:unit.tokens', { count: settings.chunkTokens }) }))}
        </Subtext>
        {sizes && <Sizes sizes={sizes} limit={chunkTokens} />}
        <Button size="sm" disabled={inUse || !preview.data} onClick={() => askUse(tokens)}>
          {inUse ? t('sizes.inUse') : t('sizes.use')}
        </Button>
      </section>
      <section className={classes.preview} aria-label={t('sizes.preview')}>
        {preview.error && <FailureAlert failure={preview.error} onRetry={() => void preview.refetch()} />}
        {preview.isPending && <Loader m="auto" aria-label={t('common:loading')} />}
        {preview.data && (
          <CutPreview preview={preview.data} stale={preview.isPlaceholderData || tokens !== chunkTokens} />
        )}
      </section>
    </div>
  );
}

function SizeInput({ tokens, onChange }: { tokens: number; onChange: (tokens: number) => void }) {
  const { t } = useTranslation('library');
  const format = useFormat();
  return (
    <>
      <NumberInput
        label={t('sizes.tokens')}
        min={LIMITS.min}
        max={LIMITS.max}
        step={64}
        clampBehavior="blur"
        allowDecimal={false}
        value={tokens}
        onChange={(value) => {
          if (typeof value === 'number' && value >= LIMITS.min && value <= LIMITS.max) onChange(value);
        }}
      />
      <Slider
        thumbLabel={t('sizes.tokens')}
        label={null}
        min={0}
        max={SLIDER_STEPS}
        step={5}
        mb={22}
        marks={MARKS.map((value) => ({ value: toSlider(value, LIMITS), label: format.number(value) }))}
        value={toSlider(tokens, LIMITS)}
        onChange={(position) => {
          // Setting the slider from the number field must not round the number.
          if (position !== toSlider(tokens, LIMITS)) onChange(fromSlider(position, LIMITS));
        }}
      />
    </>
  );
}

function Sizes({ sizes, limit }: { sizes: readonly number[]; limit: number }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const summary = summaryOf(sizes);
  if (!summary) return null;
  const bars = histogramOf(sizes, Math.max(limit, summary.max), BARS);
  const highest = Math.max(...bars);
  const sentence = t('sizes.summary', {
    chunks: t('common:unit.passages', { count: sizes.length }),
    min: format.number(summary.min),
    median: format.number(summary.median),
    max: format.number(summary.max),
  });
  return (
    <div>
      <Text role="status">{sentence}</Text>
      <div className={classes.bars} role="img" aria-label={`${t('sizes.histogram')}: ${sentence}`}>
        {bars.map((bar, index) => (
          <div key={index} style={{ height: `${(bar / highest) * 100}%` }} />
        ))}
      </div>
      <div className={classes.barScale} aria-hidden>
        <span>0</span>
        <span>{format.number(Math.max(limit, summary.max))}</span>
      </div>
    </div>
  );
}
