import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Records } from './records.ts';

const RECORD = { index: 0, kind: 'one hop', given: {} };

test('the same run resumes from records; another run refuses and keeps them', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-records-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const out = join(dir, 'result.json');
  new Records(out, { commit: 'abc' }, false).add('run', RECORD);
  expect(new Records(out, { commit: 'abc' }, true).of('run')).toEqual([RECORD]);
  expect(() => new Records(out, { commit: 'abc+changes' }, true)).toThrow(
    /result\.json\.tmp was measured with/,
  );
  expect(readFileSync(`${out}.tmp`, 'utf8')).toContain('one hop');
});
