import type { Range } from '../../../../../src-shared/contract/common.ts';
import type { DocumentInfo, PageLines } from '../../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../../client/context.tsx';

/** Where a passage is on pages whose text was recognised; undefined until it is known. */
export function useRecognisedLines(
  { id }: DocumentInfo,
  passage: Range | undefined,
): readonly PageLines[] | undefined {
  const { start = 0, end = 0 } = passage ?? {};
  const { data, error } = useCall('documents.lines', { id, start, end }, { enabled: passage !== undefined });
  return error ? [] : data;
}
