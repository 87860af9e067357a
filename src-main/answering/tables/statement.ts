import type { TableColumn, TableInfo } from '../../../src-shared/tables.ts';
import { quotedName, quotedText } from './select-grammar.ts';

/** What asks a model for a statement that answers a question. */
export function statementPrompt(question: string, tables: readonly TableInfo[]): string {
  return [
    'Write one SQLite SELECT statement that answers the question. Use only these tables and columns.',
    ...tables.map(describe),
    ...exampleOf(tables[0]),
    `Question: ${question}`,
    'Answer with the statement alone.',
  ].join('\n\n');
}

function describe({ name, rows, columns }: TableInfo): string {
  const lines = columns.map((column) => `- ${quotedName(column.name)} ${detailOf(column)}`);
  return [`Table ${quotedName(name)}, ${rows} rows:`, ...lines].join('\n');
}

function detailOf({ type, unit, examples, isComplete }: TableColumn): string {
  const values = examples.map((text) => (type === 'number' ? text : quotedText(text))).join(', ');
  return `(${type}${unit === null ? '' : ` in ${unit}`})${values === '' ? '' : `: ${isComplete ? '' : 'such as '}${values}`}`;
}

/** With the names of a real table: small models copy its form. */
function exampleOf(table: TableInfo | undefined): string[] {
  const number = table?.columns.find(({ type }) => type === 'number');
  const text = table?.columns.find(({ type, examples }) => type === 'text' && examples.length > 0);
  if (!table || !number || !text) return [];
  const value = text.examples[0] ?? '';
  return [
    `Question: What is the average ${number.name} where ${text.name} is ${value}?\n` +
      `SELECT AVG(${quotedName(number.name)}) FROM ${quotedName(table.name)} WHERE ${quotedName(text.name)} = ${quotedText(value)}`,
  ];
}

/** The statement in a model's answer, which may be in a fence or between sentences; '' for none. */
export function statementIn(answer: string): string {
  const fenced = /```(?:\w+)?\s*\n([^]*?)```/.exec(answer)?.[1] ?? answer;
  const from = fenced.search(/\b(?:SELECT|WITH)\b/i);
  return from < 0
    ? ''
    : (fenced
        .slice(from)
        .split(/;|\n\s*\n/)[0]
        ?.trim() ?? '');
}
