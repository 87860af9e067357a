/** Random statements that the engine writes by the grammar: SQLite accepts all of them. */
import SQLite from 'better-sqlite3';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableColumn, TableInfo } from '../../../src-shared/tables.ts';
import { Engine, type Model } from '../../engine/engine.ts';
import { quotedName, selectGrammar } from './select-grammar.ts';

const DEMO = join(import.meta.dirname, '..', '..', '..', 'resources', 'models', 'kvasir-demo.gguf');
const ANY = { unit: null, unread: 0, examples: [], isComplete: false };

function table(name: string, columns: Partial<TableColumn>[]): TableInfo {
  const all = columns.map((column): TableColumn => ({ name: '', type: 'text', ...ANY, ...column }));
  return { name, sheet: '', rows: 3, totalsLeftOut: 0, columns: all };
}

const TABLES = [
  table('Umsätze 2026', [
    { name: 'Region', examples: ['North', "Côte d'Or", 'back\\slash'], isComplete: true },
    { name: 'Größe (m²)', type: 'number' },
    { name: '日期', type: 'date' },
    { name: "Who's [who]" },
  ]),
  table('t', [{ name: 'only words' }]),
];

let model: Model;
beforeAll(async () => {
  model = await Engine.open().loadModel(DEMO, { threads: 1, device: 'cpu' });
});
afterAll(() => model.dispose());

async function written(seed: number): Promise<string | undefined> {
  const session = model.createSession(512);
  try {
    const tokens = model.tokenize('SQL:', { addBos: true });
    await session.append([{ kind: 'compute', tokens }], { kind: 'full' });
    const sampling = { temperature: 1.5, topK: 0, topP: 1, minP: 0, seed, grammar: selectGrammar(TABLES) };
    const { tokens: answer, stop } = await session.generate({ maxTokens: 400, sampling });
    return stop === 'eos' ? model.detokenize(answer) : undefined;
  } finally {
    session.dispose();
  }
}

test('statements by the grammar', async () => {
  const database = new SQLite(':memory:');
  for (const { name, columns } of TABLES)
    database.exec(
      `CREATE TABLE ${quotedName(name)} (${columns.map((each) => quotedName(each.name)).join(', ')})`,
    );
  let ended = 0;
  for (let seed = 0; seed < 12; seed++) {
    const sql = await written(seed);
    if (sql === undefined) continue;
    ended++;
    expect(() => database.prepare(sql).all(), sql).not.toThrow();
  }
  database.close();
  expect(ended).toBeGreaterThan(7);
});
