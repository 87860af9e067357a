import { useMemo } from 'react';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import { chart } from '../../viz/chart/chart.ts';
import { gantt } from '../../viz/gantt/gantt.ts';
import { wholeView } from '../../viz/gantt/layout.ts';
import type { Palette } from '../../viz/palette.ts';
import type { Plate } from '../../viz/png.ts';
import { tokenPicture } from '../../viz/tokens/picture.ts';
import { checksCsv, chunksCsv, layersCsv, stagesCsv, tokensCsv } from './csv.ts';
import * as captions from './captions.ts';
import { massCurve } from './mass.ts';
import type { CheckView, ReportView } from './model.ts';
import { usePanelState } from './panel-state.ts';
import { deviationSpec, ganttWords, massSpec, tokenMapData, waterfallPicture } from './pictures.ts';
import { useFiles } from './useFiles.ts';
import type { Words } from './useWords.ts';

const CSV = {
  tokens: tokensCsv,
  layers: layersCsv,
  stages: stagesCsv,
  checks: checksCsv,
  chunks: chunksCsv,
} as const;

const PICTURES = ['waterfall', 'tokens', 'mass', 'layers', 'pipeline'] as const;
type PictureName = (typeof PICTURES)[number];

export interface Exports {
  png: (name: PictureName) => void;
  wholePng: () => void;
  csv: (name: keyof typeof CSV) => void;
  json: () => void;
}

/** Exports the report as currently shown: check, scale, language and colours. */
export function useExports(view: ReportView, check: CheckView | undefined, words: Words): Exports {
  const files = useFiles(view.report.answerId, words);
  const scale = usePanelState((state) => state.scale);
  return useMemo(() => {
    const { report } = view;
    const plates = (names: readonly PictureName[]) =>
      names.flatMap((name) => plateOf[name](view, check, words, files.palette, scale) ?? []);
    return {
      png: (name) => files.png(name, plates([name])),
      wholePng: () => files.png('report', [summaryPlate(report, words), ...plates(PICTURES)]),
      csv: (name) => files.csv(name, CSV[name](view, words)),
      json: () => files.json('report', report),
    };
  }, [view, check, words, files, scale]);
}

/** The full report starts with its title and summary. */
function summaryPlate(report: FusionReport, words: Words): Plate {
  const { t, format } = words;
  const time = format.duration(report.ttftMs.total);
  return {
    title: report.question,
    caption: `${t('summary.ttft')}: ${time} · ${captions.comparison(report, words)}. ${captions.summary(report, words)}`,
    picture: {
      items: 0,
      height: () => 0,
      draw: () => undefined,
      hit: () => null,
      anchor: () => ({ x: 0, y: 0 }),
    },
  };
}

type PlateOf = (
  view: ReportView,
  check: CheckView | undefined,
  words: Words,
  palette: Palette,
  scale: 'linear' | 'log',
) => Plate | null;

const plateOf: Readonly<Record<PictureName, PlateOf>> = {
  waterfall: ({ report }, _, words) => ({
    title: words.t('waterfall.title'),
    caption: captions.waterfall(report, words),
    picture: waterfallPicture(report, words),
  }),
  pipeline: ({ report: { layers } }, _, words) =>
    layers.length === 0
      ? null
      : {
          title: words.t('pipeline.title'),
          caption: captions.pipeline(layers, words),
          picture: gantt(layers, wholeView(layers), ganttWords(words)),
        },
  tokens: (view, check, words, palette, scale) =>
    view.report.tokens.length === 0
      ? null
      : {
          title: words.t('tokens.title'),
          caption: captions.tokens(view, check, words),
          picture: tokenPicture(tokenMapData(view, check, scale, words).data, palette),
        },
  mass: (_view, check, words) => {
    const curve = check && massCurve(check.check.deviation);
    return curve
      ? {
          title: words.t('mass.title'),
          caption: captions.mass(check, words),
          picture: chart(massSpec(curve, check, words)),
        }
      : null;
  },
  layers: ({ report }, _, words) => {
    const spec = deviationSpec(report, false, words);
    return (
      spec && {
        title: words.t('layers.title'),
        caption: captions.layers(report, words),
        picture: chart(spec),
      }
    );
  },
};
