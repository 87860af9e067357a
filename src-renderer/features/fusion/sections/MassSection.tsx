import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { Subtext } from '../../../ui/Subtext.tsx';
import { chart } from '../../../viz/chart/chart.ts';
import { DataTable } from '../../../viz/DataTable.tsx';
import { PictureView } from '../../../viz/PictureView.tsx';
import { CheckSwitch } from '../CheckSwitch.tsx';
import race from '../race.module.css';
import classes from './MassSection.module.css';
import table from '../table.module.css';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import * as captions from '../captions.ts';
import { massCurve, type MassCurve } from '../mass.ts';
import type { CheckView } from '../model.ts';
import { MASS_STEPS, massSpec } from '../pictures.ts';
import { Section } from '../Section.tsx';
import type { Words } from '../useWords.ts';
import type { SectionData } from './section-props.ts';

const OTHER_RATIOS = [0.02, 0.05, 0.1, 0.15, 0.25, 0.5];

/** Share of the deviation that the selected tokens hold, and what other ratios would have held. */
export function MassSection({
  view,
  check,
  onCheck,
  words,
  exports,
}: SectionData & { check: CheckView | undefined; onCheck: (index: number) => void }) {
  const { t } = words;
  const curve = useMemo(() => check && massCurve(check.check.deviation), [check]);
  if (!check || !curve) {
    const why = check
      ? t(check.measure === 'attention' ? 'mass.nothingAttended' : 'mass.nothing', {
          layer: check.check.layer,
        })
      : captions.noMass(view.report, words);
    return <Section name="mass" title={t('mass.title')} lead={why} />;
  }
  return (
    <Section
      name="mass"
      title={t('mass.title')}
      lead={joinSentences([
        captions.mass(check, words),
        t('mass.half', { ratio: words.share(curve.ratioFor(0.5)) }),
      ])}
      table={<MassTable curve={curve} words={words} />}
      onPng={() => exports.png('mass')}
      onCsv={() => exports.csv('checks')}
    >
      <CheckSwitch view={view} check={check} onCheck={onCheck} words={words} />
      <MassPicture curve={curve} check={check} words={words} />
      <WhatIf curve={curve} check={check} words={words} />
      {view.checks.length > 0 && <RankCorrelation view={view} words={words} />}
    </Section>
  );
}

interface Selection {
  curve: MassCurve;
  check: CheckView;
  words: Words;
}

function MassPicture({ curve, check, words }: Selection) {
  const { t, format, share } = words;
  const picture = useMemo(() => chart(massSpec(curve, check, words)), [curve, check, words]);
  const ratioOf = (item: number) => item / MASS_STEPS;
  return (
    <PictureView
      picture={picture}
      label={t('mass.title')}
      note={(item) => ({
        title: t('mass.note', { ratio: share(ratioOf(item)) }),
        rows: [
          [t('chunks.tokens'), format.number(Math.round(ratioOf(item) * curve.tokens))],
          [t('mass.covered'), share(curve.covered(ratioOf(item)))],
        ],
      })}
    />
  );
}

function WhatIf({ curve, check, words: { t, share } }: Selection) {
  const chosen = check.check.selected.length / Math.max(1, check.check.positions.length);
  const near = (ratio: number) => Math.abs(ratio - chosen) < 0.004;
  const ratios = [...OTHER_RATIOS.filter((ratio) => !near(ratio)), chosen].toSorted((a, b) => a - b);
  return (
    <div className={table.tableScroll}>
      <table className={classes.whatIf}>
        <caption>{t('mass.whatIf')}</caption>
        <tbody>
          <tr>
            <th scope="row">{t('mass.ratio')}</th>
            {ratios.map((ratio) => (
              <td key={ratio} data-chosen={ratio === chosen}>
                {share(ratio)}
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">{t('mass.covered')}</th>
            {ratios.map((ratio) => (
              <td key={ratio} data-chosen={ratio === chosen}>
                {share(ratio === chosen ? check.check.massCovered : curve.covered(ratio))}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

const TABLE_STEPS = 100;

function MassTable({ curve, words: { t, format, share } }: Pick<Selection, 'curve' | 'words'>) {
  return (
    <DataTable
      label={t('mass.title')}
      columns={[
        { name: t('mass.ratio'), numeric: true },
        { name: t('chunks.tokens'), numeric: true },
        { name: t('mass.covered'), numeric: true },
      ]}
      rows={TABLE_STEPS}
      cells={(row) => {
        const ratio = (row + 1) / TABLE_STEPS;
        return [share(ratio), format.number(Math.round(ratio * curve.tokens)), share(curve.covered(ratio))];
      }}
    />
  );
}

/** Whether neighbouring check layers rank the tokens alike. */
function RankCorrelation({ view: { report }, words: { t, format } }: Pick<SectionData, 'view' | 'words'>) {
  const { checks, rankCorrelation } = report;
  return (
    <div>
      <Text size="xs" fw={600} component="h4">
        {t('mass.rank')}
      </Text>
      <Subtext mb={4}>{t(rankCorrelation.length === 0 ? 'mass.rankOne' : 'mass.rankLead')}</Subtext>
      {rankCorrelation.length > 0 && (
        <div className={race.race}>
          {rankCorrelation.map((value, i) => (
            <RankRow
              key={i}
              label={t('mass.rankPair', { from: checks[i]?.layer ?? 0, to: checks[i + 1]?.layer ?? 0 })}
              value={value}
              shown={format.number(value, 2)}
              meaning={t(value > 0.9 ? 'mass.rankHigh' : value > 0.7 ? 'mass.rankMiddle' : 'mass.rankLow')}
            />
          ))}
        </div>
      )}
    </div>
  );
}

function RankRow({
  label,
  value,
  shown,
  meaning,
}: {
  label: string;
  value: number;
  shown: string;
  meaning: string;
}) {
  return (
    <>
      <span>{label}</span>
      <div className={race.track} aria-hidden>
        <div
          className={race.runner}
          style={{ width: `${Math.max(0, value) * 100}%`, background: 'var(--kv-check)' }}
        />
      </div>
      <span className={race.raceValue}>
        {shown}{' '}
        <Text span size="xs" c="dimmed">
          {meaning}
        </Text>
      </span>
    </>
  );
}
