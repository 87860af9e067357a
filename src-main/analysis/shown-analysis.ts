import type { Analysis, Step } from '../../src-shared/contract/analysis.ts';
import type { AnalysisRow } from './analysis-table.ts';
import type { RunningAnalysis } from './running-analysis.ts';
import { sharingOf } from './sharing.ts';

/** An analysis in its current state: with text in progress, and with links only to documents that still exist. */
export function shownAnalysis(
  row: AnalysisRow,
  kept: readonly Step[],
  options: {
    live: RunningAnalysis | undefined;
    isThere: (documentId: number, path: string) => boolean;
  },
): Analysis {
  const { live, isThere } = options;
  const steps = kept.map((step): Step => {
    const sources = step.sources.map((source) => {
      const there = source.documentId !== null && isThere(Number(source.documentId), source.path);
      return there ? source : { ...source, documentId: null };
    });
    const running = live?.step(Number(step.id));
    return running ? { ...step, state: 'running', text: running.text, failure: null } : { ...step, sources };
  });
  const { kind, title, request, createdMs, model, workMs } = row;
  return {
    id: String(row.id),
    kind,
    title,
    request,
    createdMs,
    model,
    workMs,
    steps,
    instruction: 'instruction' in request ? request.instruction : '',
    state: row.state,
    failure: row.failure,
    stepsDone: steps.filter(({ state }) => state === 'done').length,
    stepsFailed: steps.filter(({ state }) => state === 'failed').length,
    sharing: sharingOf(steps),
  };
}
