import Papa from 'papaparse';
import { decodeText } from './decode.ts';
import { noText } from './errors.ts';
import type { DocumentParser } from './format.ts';
import { tableText } from './table.ts';

export const csv: DocumentParser = ({ bytes, name }) => {
  const { data, errors } = Papa.parse<string[]>(decodeText(bytes, name), { skipEmptyLines: 'greedy' });
  const text = tableText(data);
  if (text === '') throw noText(name, 'the table is empty');
  // A delimiter that could only be guessed is normal for a table of one column.
  const faults = errors.filter(({ type }) => type !== 'Delimiter');
  const warnings =
    faults.length > 0 ? [`${faults.length} rows are not well formed (${faults[0]?.message ?? ''}).`] : [];
  return { text, title: '', pages: [], warnings };
};
