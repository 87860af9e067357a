import { useMemo, useState } from 'react';
import { DataTable } from '../../../viz/DataTable.tsx';
import { PictureView } from '../../../viz/PictureView.tsx';
import { STAGES, type StageName } from '../../../viz/stages.ts';
import classes from './WaterfallSection.module.css';
import * as captions from '../captions.ts';
import { waterfallPicture } from '../pictures.ts';
import { Section } from '../Section.tsx';
import { longestStage } from '../stages.ts';
import type { SectionData } from './section-props.ts';

/** The stages up to the first token, with explanations. */
export function WaterfallSection({ view: { report }, words, exports }: SectionData) {
  const { t, format, share } = words;
  const { ttftMs } = report;
  const picture = useMemo(() => waterfallPicture(report, words), [report, words]);
  const [active, setActive] = useState<number | null>(null);
  const explained = STAGES[active ?? -1] ?? longestStage(ttftMs);
  const name = (stage: StageName) => t(`stages:${stage}.name`);
  const line = (stage: StageName) =>
    `${name(stage)}: ${format.duration(ttftMs[stage])}, ${share(ttftMs[stage] / Math.max(1e-9, ttftMs.total))}. ${t(`stages:${stage}.help`)}`;
  return (
    <Section
      name="waterfall"
      title={t('waterfall.title')}
      lead={captions.waterfall(report, words)}
      table={
        <DataTable
          label={t('waterfall.title')}
          columns={[
            { name: t('waterfall.stage') },
            { name: t('waterfall.time'), numeric: true },
            { name: t('waterfall.share'), numeric: true },
            { name: t('waterfall.meaning') },
          ]}
          rows={STAGES.length}
          cells={(row) => {
            const stage = STAGES[row] ?? 'other';
            return [
              name(stage),
              format.duration(ttftMs[stage]),
              share(ttftMs[stage] / Math.max(1e-9, ttftMs.total)),
              t(`stages:${stage}.help`),
            ];
          }}
        />
      }
      onPng={() => exports.png('waterfall')}
      onCsv={() => exports.csv('stages')}
    >
      <PictureView
        picture={picture}
        label={t('waterfall.label')}
        speak={(stage) => line(STAGES[stage] ?? 'other')}
        onActive={setActive}
      />
      <div className={classes.explained}>
        <strong>{name(explained)}</strong> · {t(`stages:${explained}.help`)}
      </div>
    </Section>
  );
}
