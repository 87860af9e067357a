import { Group } from '@mantine/core';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import type { FusionReport } from '../../../src-shared/fusion-report.ts';
import type { TokenMapHandle } from '../../viz/tokens/TokenMap.tsx';
import { useCommands } from '../../ui/commands.ts';
import { ComparePart } from './compare/ComparePart.tsx';
import { ReportExport } from './ReportExport.tsx';
import classes from './FusionPanel.module.css';
import { viewOf } from './model.ts';
import { showPicture, usePanelState } from './panel-state.ts';
import { ChunkSection } from './sections/ChunkSection.tsx';
import { LayerSection } from './sections/LayerSection.tsx';
import { MassSection } from './sections/MassSection.tsx';
import { PipelineSection } from './sections/PipelineSection.tsx';
import { TokenSection } from './sections/TokenSection.tsx';
import { WaterfallSection } from './sections/WaterfallSection.tsx';
import { Summary } from './Summary.tsx';
import { useExports } from './useExports.ts';
import { useWords } from './useWords.ts';

/** The report's sections, in the order in which they answer questions. To add one, add a component in sections/ and a line here. */
export function ReportPage({
  conversationId,
  report,
  close,
}: {
  conversationId: string;
  report: FusionReport;
  close: ReactNode;
}) {
  const words = useWords();
  const { t } = words;
  const view = useMemo(() => viewOf(report), [report]);
  const [checkIndex, setCheck] = useState(0);
  const scale = usePanelState((state) => state.scale);
  const map = useRef<TokenMapHandle>(null);
  const compare = useRef<HTMLDivElement>(null);
  const check = view.lenses[checkIndex];
  const exports = useExports(view, check, words);
  const shared = { view, words, exports };
  const showCompare = () => {
    showPicture('compare');
    requestAnimationFrame(() => compare.current?.focus());
  };
  const comparable = !report.plan?.obstacle;
  useCommands([
    { id: 'fusion.export', label: `${t('title')}: ${t('export.whole')}`, run: exports.wholePng },
    ...(comparable ? [{ id: 'fusion.compare', label: t('compare:open'), run: showCompare }] : []),
    { id: 'fusion.json', label: `${t('title')}: ${t('export.json')}`, run: exports.json },
  ]);
  const showPart = (token: number) => {
    showPicture('tokens');
    // If the map was collapsed or shown as a table, it appears in the next frame.
    requestAnimationFrame(() => map.current?.show(token));
  };
  return (
    <section className={classes.panel} aria-label={t('title')}>
      <div className={classes.bar}>
        <h2 className={classes.title}>{t('title')}</h2>
        <Group gap={4} wrap="nowrap">
          <ReportExport exports={exports} />
          {close}
        </Group>
      </div>
      <div className={classes.scroll}>
        <div className={classes.content}>
          <Summary
            conversationId={conversationId}
            report={report}
            words={words}
            onCompare={comparable ? showCompare : undefined}
          />
          <WaterfallSection {...shared} />
          <TokenSection {...shared} check={check} onCheck={setCheck} scale={scale} handle={map} />
          <ChunkSection {...shared} onShow={showPart} />
          <MassSection {...shared} check={check} onCheck={setCheck} />
          <LayerSection {...shared} />
          <PipelineSection {...shared} />
          {comparable && <ComparePart report={report} words={words} handle={compare} />}
        </div>
      </div>
    </section>
  );
}
