import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Rectangle } from 'electron';
import { z } from 'zod';

const StateSchema = z.object({
  bounds: z.object({
    x: z.int(),
    y: z.int(),
    width: z.int().min(400).max(20_000),
    height: z.int().min(300).max(20_000),
  }),
  maximized: z.boolean(),
});

/** The window's position when it was closed. */
type WindowState = z.infer<typeof StateSchema>;

/** Part of a window that must be visible on some display, so that it can be seen and dragged. */
const VISIBLE = { width: 200, height: 100 };

/** undefined if no usable state was saved, or if its display is gone. */
export function readWindowState(path: string, workAreas: readonly Rectangle[]): WindowState | undefined {
  try {
    const { data } = StateSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    const visible = data && workAreas.some((area) => showsEnough(data.bounds, area));
    return visible ? data : undefined;
  } catch {
    return undefined; // never saved, or damaged: the window gets the default position
  }
}

/** Best effort: an unwritable folder is no reason to fail. */
export function writeWindowState(path: string, state: WindowState): void {
  try {
    writeFileSync(`${path}.tmp`, JSON.stringify(state));
    renameSync(`${path}.tmp`, path);
  } catch {
    // The window opens at the default position next time.
  }
}

function showsEnough(window: Rectangle, area: Rectangle): boolean {
  const width = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  const height = Math.min(window.y + window.height, area.y + area.height) - Math.max(window.y, area.y);
  // A title bar above the display cannot be dragged.
  return width >= VISIBLE.width && height >= VISIBLE.height && window.y >= area.y - 1;
}
