import type { ReportView } from '../model.ts';
import type { Exports } from '../useExports.ts';
import type { Words } from '../useWords.ts';

/** Props common to all sections. */
export interface SectionData {
  view: ReportView;
  words: Words;
  exports: Exports;
}
