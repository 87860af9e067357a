import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux tells of batteries and mains; other systems have no such folder. */
const SUPPLIES = '/sys/class/power_supply';

/** Whether the machine runs on a battery. False where that cannot be told. */
export function onBattery(supplies = SUPPLIES): boolean {
  const all = names(supplies).map((name) => (field: string) => text(join(supplies, name, field)));
  // A mouse or a headset has a battery, too; that of the machine has no scope, or the system's.
  const batteries = all.filter((read) => read('type') === 'Battery' && read('scope') !== 'Device');
  const plugged = all.some((read) => read('type') !== 'Battery' && read('online') === '1');
  return !plugged && batteries.some((read) => read('status') === 'Discharging');
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
