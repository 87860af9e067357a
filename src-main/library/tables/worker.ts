/**
 * The process in which a statement runs over tables. A model or another program wrote it, so it runs apart from the catalogue: it can
 * neither reach other data nor occupy the program, and its process is killed after every answer.
 */
import SQLite from 'better-sqlite3';
import type { QueryResult } from '../../../src-shared/tables.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { failureOf, messageOf } from '../../platform/failure.ts';
import { confine } from '../parser/confine.ts';
import { startWatchdog } from '../parser/watchdog.ts';
import type { QueryReply, QueryRequest } from './protocol.ts';

const MAX_ROWS = 200;
const MAX_UNITS = 65_536;
const MAX_CELL_UNITS = 2000;
const TYPES = { number: 'NUMERIC', date: 'TEXT', text: 'TEXT COLLATE NOCASE' } as const;

process.on('message', (request: QueryRequest) => answer(request));
process.on('disconnect', () => process.exit(0));
startWatchdog(Number(process.argv[2]));
new SQLite(':memory:').close(); // loads its native code, which is refused from here on
confine();

function answer(request: QueryRequest): void {
  let reply: QueryReply;
  try {
    reply = { result: run(load(request), request.sql) };
  } catch (error) {
    reply = { failure: failureOf(error instanceof KvasirError ? error : refused(messageOf(error))) };
  }
  process.send?.(reply);
}

function load({ tables, rows }: QueryRequest): SQLite.Database {
  const database = new SQLite(':memory:');
  const values = JSON.parse(rows) as (string | number | null)[][][];
  for (const [i, { name, columns }] of tables.entries()) {
    const definitions = columns.map((column) => `${quoted(column.name)} ${TYPES[column.type]}`);
    database.exec(`CREATE TABLE ${quoted(name)} (${definitions.join(', ')})`);
    const insert = database.prepare(
      `INSERT INTO ${quoted(name)} VALUES (${columns.map(() => '?').join(', ')})`,
    );
    database.transaction((all: readonly unknown[][]) => all.forEach((row) => insert.run(row)))(
      values[i] ?? [],
    );
  }
  database.pragma('trusted_schema = OFF');
  database.pragma('temp_store = MEMORY'); // so that a large sort meets the limit of memory and not the disk
  database.pragma('query_only = ON');
  return database;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Runs one statement that only reads; ATTACH, which SQLite counts as reading, returns no rows. */
function run(database: SQLite.Database, sql: string): QueryResult {
  if (!/^\s*(?:SELECT|WITH|VALUES)\b/i.test(sql)) throw refused('it is no SELECT statement');
  const statement = database.prepare(sql);
  if (!statement.reader || !statement.readonly) throw refused('it does more than read');
  const result: QueryResult = {
    columns: statement.columns().map(({ name }) => name),
    rows: [],
    truncated: false,
  };
  let units = 0;
  for (const row of statement.raw().iterate() as Iterable<unknown[]>) {
    const cells = row.map(plain);
    units += cells.reduce<number>((sum, cell) => sum + String(cell ?? '').length, 0);
    if (result.rows.length >= MAX_ROWS || (units > MAX_UNITS && result.rows.length > 0))
      return { ...result, truncated: true };
    result.rows.push(cells);
    result.truncated ||= row.some((cell) => typeof cell === 'string' && cell.length > MAX_CELL_UNITS);
  }
  return result;
}

/** Numbers without the noise of binary fractions. */
function plain(value: unknown): string | number | null {
  if (typeof value === 'number')
    return Number.isFinite(value) ? Number(value.toPrecision(15)) : String(value);
  if (typeof value === 'string') return value.slice(0, MAX_CELL_UNITS);
  return value instanceof Uint8Array ? `(${value.length} bytes)` : null;
}

function refused(why: string): KvasirError {
  return new KvasirError(
    'TABLE_QUERY',
    `The statement cannot be run: ${why}.`,
    'Write one SELECT statement in SQLite’s dialect, with the names of tables and columns in double quotes.',
  );
}
