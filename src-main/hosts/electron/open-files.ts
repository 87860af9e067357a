import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { EventBus } from '../../platform/event-bus.ts';
import { appRoot } from '../../platform/root.ts';

interface DesktopArguments {
  dataDir: string | undefined;
  /** Files and folders to open, as full paths. */
  paths: string[];
}

/**
 * Parses the program's arguments (`argv` begins with the executable): `--data DIR`, and files. Ignores flags of
 * Electron and Chromium, paths that do not exist, and this program itself, which an unpackaged Electron receives as an
 * argument.
 */
export function readArguments(argv: readonly string[], workingDir: string): DesktopArguments {
  const { values, positionals } = parseArgs({
    args: argv.slice(1),
    options: { data: { type: 'string' } },
    strict: false,
    allowPositionals: true,
  });
  const dataDir = typeof values.data === 'string' ? resolve(workingDir, values.data) : undefined;
  const program = [appRoot(), join(appRoot(), 'out', 'main', 'main.js')];
  const paths = positionals
    .map((path) => resolve(workingDir, path))
    .filter((path) => existsSync(path) && !program.includes(path));
  return { dataDir, paths };
}

/** Files that the system asks to open, and routes that the menu asks to show: kept until the window listens. */
export class OpenRequests {
  readonly #waiting: { paths: string[]; route: string }[] = [];
  #events: EventBus | undefined;

  open(paths: string[]): void {
    if (paths.length > 0) this.#ask({ paths, route: routeFor(paths) });
  }

  goTo(route: string): void {
    this.#ask({ paths: [], route });
  }

  /** The window listens now. */
  deliverTo(events: EventBus): void {
    this.#events = events;
    for (const request of this.#waiting.splice(0)) events.emit('app.open', request);
  }

  /** The window is gone; another may come. */
  hold(): void {
    this.#events = undefined;
  }

  #ask(request: { paths: string[]; route: string }): void {
    if (this.#events) this.#events.emit('app.open', request);
    else this.#waiting.push(request);
  }
}

/** Model files go to the models screen, everything else to the documents. */
function routeFor(paths: readonly string[]): string {
  return paths.every((path) => path.toLowerCase().endsWith('.gguf')) ? '/models' : '/library';
}
