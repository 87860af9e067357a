import { SegmentedControl } from '@mantine/core';
import legend from './legend.module.css';
import type { DeviationScale, ScaleKind } from './scale.ts';
import type { Words } from './useWords.ts';

/** Linear or logarithmic. */
export function ScaleSwitch({
  kind,
  onChange,
  words: { t },
}: {
  kind: ScaleKind;
  onChange: (kind: ScaleKind) => void;
  words: Words;
}) {
  return (
    <SegmentedControl
      size="xs"
      w="fit-content"
      aria-label={t('tokens.scale')}
      value={kind}
      onChange={onChange}
      data={[
        { value: 'linear', label: t('tokens.linear') },
        { value: 'log', label: t('tokens.log') },
      ]}
    />
  );
}

/** The values of the faintest and the strongest shade. */
export function ScaleLegend({ scale, words: { t, significant } }: { scale: DeviationScale; words: Words }) {
  return (
    <span>
      {significant(scale.low)}
      <span className={legend.ramp} aria-hidden />
      {significant(scale.high)} {scale.clipped && t('tokens.legendAbove')}
    </span>
  );
}
