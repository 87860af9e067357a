import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Linux's folder for batteries and mains; other systems have none. */
const SUPPLIES = '/sys/class/power_supply';

/** Whether the machine runs on battery. False if unknown. */
export function onBattery(supplies = SUPPLIES): boolean {
  const all = names(supplies).map((name) => (field: string) => text(join(supplies, name, field)));
  // A mouse or headset may have a battery too; the machine's own has no scope, or "System".
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
