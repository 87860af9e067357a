import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onBattery } from './power.ts';

/** A fake of Linux's folder: supplies by name, with their files. */
function supplies(all: Record<string, Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-power-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, files] of Object.entries(all)) {
    mkdirSync(join(dir, name));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(dir, name, file), `${text}\n`);
  }
  return dir;
}

const AC = (online: string) => ({ type: 'Mains', online });
const BATTERY = (status: string) => ({ type: 'Battery', status });

test('a machine whose battery discharges and that nothing feeds runs on it', () => {
  expect(onBattery(supplies({ AC: AC('0'), BAT0: BATTERY('Discharging') }))).toBe(true);
  expect(onBattery(supplies({ BAT0: BATTERY('Charging'), BAT1: BATTERY('Discharging') }))).toBe(true);
});

test('with the mains it does not, whatever the battery does meanwhile', () => {
  expect(onBattery(supplies({ AC: AC('1'), BAT0: BATTERY('Discharging') }))).toBe(false);
  expect(onBattery(supplies({ 'ucsi-0': { type: 'USB', online: '1' }, BAT0: BATTERY('Discharging') }))).toBe(
    false,
  );
  expect(onBattery(supplies({ AC: AC('0'), BAT0: BATTERY('Full') }))).toBe(false);
});

test('the battery of a mouse is not the machine’s', () => {
  const mouse = { ...BATTERY('Discharging'), scope: 'Device' };
  expect(onBattery(supplies({ mouse }))).toBe(false);
});

test('what cannot be told counts as mains', () => {
  expect(onBattery(supplies({ BAT0: { type: 'Battery' } }))).toBe(false);
  expect(onBattery(supplies({}))).toBe(false);
  expect(onBattery('/nowhere')).toBe(false);
});
