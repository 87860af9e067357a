import type { Ref } from 'react';
import type { FusionReport } from '../../../../src-shared/fusion-report.ts';
import classes from './ComparePart.module.css';
import { useFiles } from '../useFiles.ts';
import type { Words } from '../useWords.ts';
import { DeepSections } from '../deep/DeepSections.tsx';
import { CompareSection } from './CompareSection.tsx';
import { useComparison } from './useComparison.ts';

/** The comparison with other methods and, if it compared every layer, the pictures of that. */
export function ComparePart({
  report,
  words,
  handle,
}: {
  report: FusionReport;
  words: Words;
  /** Receives the focus when the user requests a comparison. */
  handle: Ref<HTMLDivElement>;
}) {
  const state = useComparison(report.answerId, words.t('compare:failed'));
  const files = useFiles(report.answerId, words);
  return (
    <div ref={handle} tabIndex={-1} className={classes.comparePart}>
      <CompareSection report={report} state={state} words={words} files={files} />
      {state.comparison && <DeepSections comparison={state.comparison} words={words} files={files} />}
    </div>
  );
}
