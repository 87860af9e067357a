import { z } from 'zod';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { CallableTool } from '../tool.ts';
import { ownTool } from './own-tool.ts';

const DAY_MS = 86_400_000;
const MOST_DAYS = 4_000_000;

const DateSchema = z.iso.date();

const InputSchema = z.object({
  from: DateSchema.optional().describe('YYYY-MM-DD; absent: today'),
  to: DateSchema.optional().describe('YYYY-MM-DD: how long until then'),
  days: z.int().min(-MOST_DAYS).max(MOST_DAYS).optional().describe('Days to add to `from`'),
});

/** Today, weekdays, and differences between dates. */
export function dateTool(now: () => Date): CallableTool {
  return ownTool({
    name: 'date',
    title: 'Dates',
    description:
      'Tells today and the time, the weekday of a date, the days between two dates, and the date some days later.',
    input: InputSchema,
    run: ({ from, to, days }) => {
      const today = now();
      const start = from === undefined ? localDay(today) : dayOf(from);
      const lines = [
        `Today is ${dayText(localDay(today))}, ${clockText(today)}.`,
        ...(from === undefined ? [] : [`${from} is a ${weekday(start)}.`]),
        ...(to === undefined
          ? []
          : [`${iso(start)} to ${dayText(dayOf(to))}: ${between(start, dayOf(to))}.`]),
        ...(days === undefined ? [] : [`${iso(start)} and ${days} days: ${dayText(start + days)}.`]),
      ];
      return lines.join('\n');
    },
  });
}

/** Days since 1970. BAD_ARGUMENT for a day that there is not. */
function dayOf(text: string): number {
  const day = Date.parse(`${text}T00:00:00Z`) / DAY_MS;
  if (Number.isNaN(day)) throw new KvasirError('BAD_ARGUMENT', `There is no day ${text}.`);
  return day;
}

function localDay(date: Date): number {
  return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / DAY_MS;
}

function iso(day: number): string {
  return new Date(day * DAY_MS).toISOString().split('T')[0] ?? '';
}

function weekday(day: number): string {
  return new Date(day * DAY_MS).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });
}

function dayText(day: number): string {
  return `${weekday(day)}, ${iso(day)}`;
}

function clockText(date: Date): string {
  const [hours, minutes] = [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0'));
  return `${hours}:${minutes}`;
}

/** Days, and whole years, months and days where there is at least a month. */
function between(from: number, to: number): string {
  const days = to - from;
  const [first, last] = days < 0 ? [to, from] : [from, to];
  const [start, end] = [new Date(first * DAY_MS), new Date(last * DAY_MS)];
  const all = (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth();
  const months = monthsLater(start, all) > last ? all - 1 : all;
  if (months < 1) return `${days} days`;
  const parts = [Math.floor(months / 12), months % 12, last - monthsLater(start, months)];
  return `${days} days (${parts.map((count, i) => `${count} ${['years', 'months', 'days'][i] ?? ''}`).join(', ')})`;
}

/** The day some months later, or the last of its month. */
function monthsLater(start: Date, months: number): number {
  const month = start.getUTCMonth() + months;
  const last = new Date(Date.UTC(start.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return Date.UTC(start.getUTCFullYear(), month, Math.min(start.getUTCDate(), last)) / DAY_MS;
}
