// `npm run bench:ingest`: measures the window's responsiveness while 1,000 text files (20 MB) are read, indexed and precomputed, and the
// memory that takes. Real app, real browser; timings are from one run on one machine.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command, Option } from 'commander';
import { chromium, type Page } from 'playwright-core';
import { WebSocket } from 'ws';
import type { QueueStatus } from '../src-shared/contract/libraries.ts';
import { startApp, temporaryFolder, type RunningApp } from '../e2e/window/support/app.ts';
import { CHROMIUM, launchOptions, NO_BROWSER } from '../e2e/window/support/browsers.ts';
import { randomFrom } from '../src-main/testing/random.ts';
import { writeResult } from './lib/result.ts';

const KEY_EVERY_MS = 120;
const ROUTE: Record<string, string> = { library: '/library', search: '/search', chat: '/' };

/** Runs in the page: a task posted from a frame's callback runs after that frame has been painted. */
const OBSERVE = `
  globalThis.latencies = [];
  addEventListener('keydown', (event) => {
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => globalThis.latencies.push(performance.now() - event.timeStamp);
      channel.port2.postMessage(0);
    });
  }, { capture: true });
`;

const { files, bytes, seconds, out } = new Command('bench:ingest')
  .addOption(new Option('--files <n>', 'text files').default(1000).argParser(Number))
  .addOption(new Option('--bytes <n>', 'total bytes').default(20e6).argParser(Number))
  .addOption(new Option('--seconds <n>', 'seconds of typing per screen').default(40).argParser(Number))
  .addOption(new Option('--out <file>', 'path of the JSON result').default('bench/results/ingest.json'))
  .parse()
  .opts<{ files: number; bytes: number; seconds: number; out: string }>();

if (CHROMIUM === undefined) throw new Error(NO_BROWSER);
const documents = temporaryFolder();
const data = temporaryFolder();
writeDocuments(documents.path, files, bytes);
const app = await startApp(data.path);
const browser = await chromium.launch(launchOptions);
try {
  const entered = await enter(app);
  const core = await connect(app, entered);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: entered.name, value: entered.value, url: entered.home }]);
  const page = await context.newPage();
  const memory = watchMemory(app);
  await untilIdle(core);
  const idle = await typeOn(page, entered, 'search', seconds / 4);
  const started = performance.now();
  const library = (await core.call('libraries.create', { name: 'Ingest' })) as { id: string };
  await core.call('libraries.addPaths', { id: library.id, paths: [documents.path] });
  const screens: Record<string, Latency> = { 'search, idle': idle };
  for (const screen of ['library', 'search', 'chat'])
    screens[screen] = await typeOn(page, entered, screen, seconds);
  const status = (await core.call('queue.status', {})) as QueueStatus;
  report(screens, status, (performance.now() - started) / 1000, memory.peak());
  memory.stop();
  core.close();
} finally {
  await browser.close();
  await app.stop();
  documents.remove();
  data.remove();
}

interface Latency {
  keys: number;
  p50: number;
  p95: number;
  max: number;
}

function writeDocuments(folder: string, count: number, total: number): void {
  const random = randomFrom(1);
  const syllables = ['ka', 'lo', 'mi', 'ter', 'un', 'ves', 'ra', 'po', 'sin', 'da', 'gel', 'or'];
  const word = (): string =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => syllables[Math.floor(random() * 12)]).join('');
  const sentence = (): string => `${Array.from({ length: 6 + Math.floor(random() * 10) }, word).join(' ')}. `;
  for (let i = 0; i < count; i++) {
    let text = `Document ${i}\n\n`;
    while (text.length < total / count) text += random() < 0.2 ? `${sentence()}\n\n` : sentence();
    writeFileSync(join(folder, `document-${String(i).padStart(4, '0')}.txt`), text);
  }
}

/** Exchanges the one-time token for the session's cookie. */
async function enter({ url }: RunningApp): Promise<WindowSession> {
  const response = await fetch(url, { redirect: 'manual' });
  const [name = '', value = ''] = response.headers.getSetCookie()[0]?.split(';')[0]?.split('=') ?? [];
  return { name, value, home: new URL(response.headers.get('location') ?? '', url).href };
}

interface WindowSession {
  name: string;
  value: string;
  /** The window's URL. */
  home: string;
}

interface Core {
  call(name: string, input: unknown): Promise<unknown>;
  close(): void;
}

async function connect(running: RunningApp, { name, value, home }: WindowSession): Promise<Core> {
  const socket = new WebSocket(new URL('./socket', home.replace('http', 'ws')), {
    headers: { Cookie: `${name}=${value}`, Origin: running.origin },
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const waiting = new Map<
    number,
    (reply: { ok: boolean; data: unknown; error?: { message: string } }) => void
  >();
  socket.on('message', (message: Buffer) => {
    const reply = JSON.parse(message.toString()) as { id?: number; ok: boolean; data: unknown };
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  let id = 0;
  return {
    call: (procedure, input) =>
      new Promise((resolve, reject) => {
        const mine = ++id;
        waiting.set(mine, ({ ok, data: answer, error }) => {
          if (ok) resolve(answer);
          else reject(new Error(error?.message));
        });
        socket.send(JSON.stringify({ id: mine, name: procedure, input }));
      }),
    close: () => socket.close(),
  };
}

async function untilIdle(core: Core): Promise<void> {
  for (;;) {
    const { active, waiting, total } = (await core.call('queue.status', {})) as QueueStatus;
    if (active + waiting === 0 && total > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Presses keys in a screen's field, and measures the time from each key to the frame that shows it. */
async function typeOn(page: Page, { home }: WindowSession, screen: string, time: number): Promise<Latency> {
  await page.goto(`${home}#${ROUTE[screen] ?? '/'}`);
  await page.reload();
  const field =
    screen === 'chat'
      ? page.getByRole('textbox', { name: 'Your question' })
      : page.locator('main input').first();
  await field.focus();
  await page.evaluate(OBSERVE);
  const end = performance.now() + time * 1000;
  for (let i = 0; performance.now() < end; i++) {
    await page.keyboard.press(i % 12 === 11 ? 'Control+A' : 'kalomitervesr'.charAt(i % 12));
    await new Promise((resolve) => setTimeout(resolve, KEY_EVERY_MS));
  }
  const latencies = await page.evaluate<number[]>('globalThis.latencies');
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { keys: latencies.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

/** Peak resident memory of the core and its child processes combined, in MiB; Linux only. */
function watchMemory(running: RunningApp): { peak(): number; stop(): void } {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, residentOfTree(running.process.pid ?? 0))), 500);
  return { peak: () => peak, stop: () => clearInterval(timer) };
}

function residentOfTree(pid: number): number {
  try {
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/);
    return children.reduce((sum, child) => sum + (child === '' ? 0 : residentOfTree(Number(child))), own);
  } catch {
    return 0; // the process has ended, or this is not Linux
  }
}

function report(
  screens: Record<string, Latency>,
  status: QueueStatus,
  elapsed: number,
  peakMiB: number,
): void {
  const table = new Table({ head: ['typing on', 'keys', 'p50 ms', 'p95 ms', 'max ms'] });
  for (const [screen, { keys, p50, p95, max }] of Object.entries(screens)) {
    table.push([screen, keys, p50.toFixed(0), p95.toFixed(0), max.toFixed(0)]);
  }
  console.log(table.toString());
  console.log(
    `After ${elapsed.toFixed(0)} s: ${status.done} of ${status.total} documents ready, ${status.tokensDone} tokens ` +
      `precomputed (${status.tokensPerSecond.toFixed(0)}/s). The peak covers the core and its parser.`,
  );
  writeResult('ingest', out, {
    files,
    bytes,
    latencyMs: screens,
    elapsedSeconds: elapsed,
    documentsReady: status.done,
    tokensPrecomputed: status.tokensDone,
    tokensPerSecond: status.tokensPerSecond,
    peakRssMiB: Math.round(peakMiB),
  });
}
