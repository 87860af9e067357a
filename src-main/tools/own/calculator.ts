import SQLite from 'better-sqlite3';
import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CallableTool } from '../tool.ts';
import { ownTool } from './own-tool.ts';

const FUNCTIONS = ['sqrt', 'pow', 'abs', 'round', 'floor', 'ceil', 'min', 'max', 'exp', 'ln', 'log'];

const InputSchema = z.object({
  expression: z.string().min(1).max(1000).describe('Such as (1250.50 - 80) * 19%'),
});

export const calculator: CallableTool = ownTool({
  name: 'calculate',
  title: 'Calculate',
  description: `Computes + - * / ^ % and parentheses, and ${FUNCTIONS.join(', ')}.`,
  input: InputSchema,
  run: ({ expression }) => `${expression.trim()} = ${evaluate(expression)}`,
});

const TOKEN = new RegExp(
  String.raw`(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|[-+*/%(),.]|\s|\b(?:${FUNCTIONS.join('|')})\b)`,
  'y',
);
const NUMBER = String.raw`\d+(?:\.\d+)?(?:e[-+]?\d+)?`;
const OPERAND = String.raw`(?:${NUMBER}|[a-z]*\([^()]*\))`;
/** The last power, since they bind to the right. */
const POWER = new RegExp(String.raw`^(.*)(?<![a-z\d.])(${OPERAND})\s*(?:\^|\*\*)\s*(-?${OPERAND})`, 's');
const PERCENT = new RegExp(String.raw`(${NUMBER})\s*%(?!\s*[\d.(a-z])`, 'g');
const INTEGER = /(?<![\d.e])\d+(?![\d.e])/g;

/** Digits of SQLite's floating-point numbers that are right. */
const DIGITS = 15;

/** SQLite's value of an expression of numbers alone: whole numbers up to 63 bits are exact, others have 15 digits. BAD_ARGUMENT. */
function evaluate(expression: string): string {
  let sql = expression.toLowerCase().replaceAll(/[×·]/g, '*').replaceAll('÷', '/').replaceAll('−', '-');
  sql = sql.replaceAll(/(?<=\d)[_ ](?=\d{3}\b)/g, '').replaceAll(PERCENT, '($1/100)');
  for (let before = ''; before !== sql;) [before, sql] = [sql, sql.replace(POWER, '$1pow($2,$3)')];
  if (/[/.]/.test(sql)) sql = sql.replaceAll(INTEGER, '$&.0');
  requireNumbers(sql);
  const database = new SQLite(':memory:');
  try {
    const value: unknown = database.prepare(`SELECT (${sql})`).pluck().safeIntegers().get();
    if (typeof value === 'bigint') return value.toString();
    if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toPrecision(DIGITS)));
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  } finally {
    database.close();
  }
  throw wrong('it has no value, as after a division by zero');
}

/** Nothing else reaches SQLite. */
function requireNumbers(sql: string): void {
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < sql.length;) {
    const from = TOKEN.lastIndex;
    if (!TOKEN.test(sql)) throw wrong(`“${sql.slice(from, from + 20)}” is not understood`);
  }
}

function wrong(why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `The expression cannot be computed: ${why}.`);
}
