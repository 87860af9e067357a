import { SimpleGrid } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Calibration, CalibrationPoint } from '../../../src-shared/contract/calibration.ts';
import { atLayers } from '../../ui/at-layers.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { chart } from '../../viz/chart/chart.ts';
import { DataTable } from '../../viz/DataTable.tsx';
import { PictureView } from '../../viz/PictureView.tsx';
import { agreementChart, klChart, pointsAt, ratiosOf, type CalibrationWords } from './calibration-view.ts';

/** KL and agreement by ratio, one line per strategy, with the chosen point marked. */
export function CalibrationCharts({ calibration }: { calibration: Calibration }) {
  const { t } = useTranslation('models');
  const words = useCalibrationWords();
  const kl = useMemo(() => chart(klChart(calibration, words)), [calibration, words]);
  const agreement = useMemo(() => chart(agreementChart(calibration, words)), [calibration, words]);
  const pictures = [
    {
      picture: kl,
      label: t('calibration.klPicture'),
      value: (point: CalibrationPoint) => words.number(point.kl),
    },
    {
      picture: agreement,
      label: t('calibration.agreementPicture'),
      value: (point: CalibrationPoint) => words.percent(point.agreement),
    },
  ];
  const ratios = ratiosOf(calibration);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      {pictures.map(({ picture, label, value }) => (
        <PictureView
          key={label}
          picture={picture}
          label={label}
          note={(item) => {
            const ratio = ratios[item] ?? 0;
            return {
              title: `${t('calibration.columns.ratio')} ${words.percent(ratio)}`,
              rows: pointsAt(calibration, ratio).map((point) => [
                words.strategy(point.strategy),
                value(point),
              ]),
            };
          }}
        />
      ))}
    </SimpleGrid>
  );
}

/** The same data as a table. */
export function CalibrationTable({ calibration }: { calibration: Calibration }) {
  const { t } = useTranslation(['models', 'strategies']);
  const format = useFormat();
  const words = useCalibrationWords();
  const { points, fullMs } = calibration;
  const columns = (['strategy', 'ratio', 'kl', 'klMax', 'agreement', 'time'] as const).map((name) => ({
    name: t(`calibration.columns.${name}`),
    numeric: name !== 'strategy',
  }));
  const cells = (row: number): string[] => {
    const point = points[row];
    if (!point) return [];
    const { strategy, kl, klMax, agreement, ms } = point;
    return [
      words.strategy(strategy),
      format.percent(strategy.ratio),
      format.number(kl, 4),
      format.number(klMax, 4),
      format.percent(agreement),
      format.percent(ms / fullMs),
    ];
  };
  return <DataTable label={t('calibration.numbers')} columns={columns} rows={points.length} cells={cells} />;
}

/** Formats for the numbers and strategies of a calibration. */
export function useCalibrationWords(): CalibrationWords {
  const { t } = useTranslation(['models', 'strategies']);
  const format = useFormat();
  return useMemo(
    () => ({
      strategy: ({ name, ...layers }) => atLayers(t(`strategies:${name}.name`), layers, t),
      ratio: t('calibration.ratio'),
      kl: t('calibration.kl'),
      agreement: t('calibration.agreement'),
      floor: t('calibration.floorLine'),
      percent: (share) => format.percent(share),
      number: (value) => format.number(value, value < 0.1 ? 4 : 2),
    }),
    [t, format],
  );
}
