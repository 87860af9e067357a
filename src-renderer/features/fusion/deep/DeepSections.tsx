import { useMemo } from 'react';
import type { Comparison, DeepPrompt } from '../../../../src-shared/comparison.ts';
import type { Files } from '../useFiles.ts';
import type { Words } from '../useWords.ts';
import { ChartSection } from './ChartSection.tsx';
import { deepLayersCsv, sweepCsv } from './csv.ts';
import { HeatSection } from './HeatSection.tsx';
import { attentionLead, concentrationLead, rankLead, sweepLead } from './captions.ts';
import { baseOf, blendOf, type DeepMethod } from './model.ts';
import { attentionSpec, concentrationSpec, rankSpec, sweepSpec } from './pictures.ts';

interface DeepProps {
  comparison: Comparison;
  words: Words;
  files: Files;
}

/** Deviation of every layer from the full prefill; renders nothing if the comparison did not measure it. */
export function DeepSections({ comparison, words, files }: DeepProps) {
  const base = useMemo(() => baseOf(comparison), [comparison]);
  if (!comparison.deep || !base) return null;
  const shared = { comparison, words, files };
  return (
    <>
      <HeatSection key={comparison.madeMs} prompt={comparison.deep} first={base} {...shared} />
      <DeepCharts prompt={comparison.deep} base={base} {...shared} />
    </>
  );
}

function DeepCharts({
  comparison,
  prompt,
  base,
  words,
  files,
}: DeepProps & { prompt: DeepPrompt; base: DeepMethod }) {
  const { t, share } = words;
  const own = useMemo(() => blendOf(comparison)?.strategy.ratio ?? null, [comparison]);
  const specs = useMemo(
    () => ({
      attention: [attentionSpec(comparison, words)],
      concentration: [concentrationSpec(base, own, words)],
      rank: [rankSpec(base, words)],
      sweep: [sweepSpec(prompt, 'attention', own, words), sweepSpec(prompt, 'kl', own, words)],
    }),
    [comparison, prompt, base, own, words],
  );
  const layerName = (layer: number) => t('layers.layerName', { layer });
  const layersCsv = () => deepLayersCsv(comparison);
  return (
    <>
      <ChartSection
        name="attention"
        title={t('compare:attention.title')}
        lead={attentionLead(base, comparison, words)}
        specs={specs.attention}
        itemName={layerName}
        csv={layersCsv}
        files={files}
      />
      <ChartSection
        name="sweep"
        title={t('compare:sweep.title')}
        lead={sweepLead(prompt, own, words)}
        specs={specs.sweep}
        itemName={share}
        csv={() => sweepCsv(prompt)}
        files={files}
      />
      <ChartSection
        name="concentration"
        title={t('compare:concentration.title')}
        lead={concentrationLead(base, own, words)}
        specs={specs.concentration}
        itemName={(ratio) => t('mass.note', { ratio: share(ratio) })}
        csv={layersCsv}
        files={files}
      />
      <ChartSection
        name="rank"
        title={t('compare:rank.title')}
        lead={rankLead(base, words)}
        specs={specs.rank}
        itemName={(layer) => t('mass.rankPair', { from: layer, to: layer + 1 })}
        csv={layersCsv}
        files={files}
      />
    </>
  );
}
