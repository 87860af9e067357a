import { literal } from '../json-schema/text-rules.ts';
import type { TableColumn, TableInfo } from '../../../src-shared/tables.ts';

/** Whatever the names: rules of numbers, days and words. */
const COMMON = `number ::= "-"? [0-9]{1,12} ("." [0-9]{1,6})?
day ::= "'" [0-9] [0-9] [0-9] [0-9] ("-" [0-9] [0-9] ("-" [0-9] [0-9])?)? "'"
compare ::= " = " | " > " | " < " | " >= " | " <= " | " <> "
words ::= "'" [^'\\x00-\\x1F]{1,60} "'"
limit ::= " LIMIT " [1-9] [0-9]?`;

/**
 * A GBNF grammar of SELECT statements over one of these tables, with nothing but their names, and in conditions the texts that a column
 * has where these are few. Every text of it is a statement that SQLite accepts.
 */
export function selectGrammar(tables: readonly TableInfo[]): string {
  const rules = tables.flatMap((table, i) => rulesOf(table, i));
  return [`root ::= ${tables.map((_, i) => `table${i}`).join(' | ')}`, ...rules, COMMON].join('\n');
}

function rulesOf({ name, columns }: TableInfo, i: number): string[] {
  const ofType = (type: TableColumn['type']): string[] =>
    columns.filter((column) => column.type === type).map((column) => literal(quotedName(column.name)));
  const [numbers, days] = [ofType('number'), ofType('date')];
  const conditions = [
    ...numbers.map((column) => `${column} compare number`),
    ...days.map((column) => `${column} compare day`),
    ...columns.filter(({ type }) => type === 'text').map(textCondition),
  ];
  const aggregates = [
    '"COUNT(*)"',
    `"COUNT(DISTINCT " column${i} ")"`,
    ...(numbers.length > 0 ? [`("SUM(" | "AVG(" | "MIN(" | "MAX(") (${numbers.join(' | ')}) ")"`] : []),
    ...(days.length > 0 ? [`("MIN(" | "MAX(") (${days.join(' | ')}) ")"`] : []),
  ];
  return [
    `table${i} ::= "SELECT " items${i} ${literal(` FROM ${quotedName(name)}`)} (" WHERE " where${i})? (" GROUP BY " column${i})? order${i}? limit?`,
    `items${i} ::= item${i} (", " item${i}){0,3}`,
    `item${i} ::= aggregate${i} | column${i}`,
    `aggregate${i} ::= ${aggregates.join(' | ')}`,
    `column${i} ::= ${columns.map((column) => literal(quotedName(column.name))).join(' | ')}`,
    `where${i} ::= condition${i} ((" AND " | " OR ") condition${i}){0,2}`,
    `condition${i} ::= ${conditions.join(' | ')}`,
    `order${i} ::= " ORDER BY " (aggregate${i} | column${i}) (" DESC" | " ASC")`,
  ];
}

function textCondition({ name, examples, isComplete }: TableColumn): string {
  const column = literal(quotedName(name));
  if (!isComplete || examples.length === 0) return `${column} (" = " | " LIKE ") words`;
  return `${column} (" = " | " <> ") (${examples.map((text) => literal(quotedText(text))).join(' | ')})`;
}

export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
