import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Table from 'cli-table3';
import { messageOf } from '../../../src-main/platform/failure.ts';
import { randomFrom } from '../../../src-main/testing/random.ts';
import type { FlowEvent } from '../disk-child.ts';
import { check, withApp, withoutVarying, type Clean } from './check.ts';
import { dataIn, fill, type Acceptance } from './contents.ts';
import { FLOWS, FLOW_NAMES, type Flow, type FlowName } from './flows.ts';
import { MODEL_URL, serveModel } from './model-server.ts';
import {
  hasLayer,
  KINDS,
  readCalls,
  starvedMs,
  withFault,
  type Call,
  type DiskFault,
  type Kind,
} from './layer.ts';

const CHILD = join(import.meta.dirname, '..', 'disk-child.ts');
/** A flow takes a few seconds; one that takes longer, apart from waiting for a processor, hangs. */
const HUNG_MS = 120_000;
const LOOK_MS = 1000;

export interface CampaignOptions {
  /** An empty folder. */
  dir: string;
  seed: number;
  /** It ends after these, whichever comes first. */
  rounds: number;
  endMs: number;
  kind?: Kind | undefined;
  flow?: FlowName | undefined;
  /** The call that fails; default: a random one. */
  at?: number | undefined;
  /** A data folder to begin with a copy of; default: an empty one. */
  from?: string | undefined;
}

/** A flow's folder with a data folder and a drive, and what an undisturbed run of it does. */
interface Prepared {
  root: string;
  /** Numbers of its calls, from 1, by kind of file, and by what they do to it: as likely to fail, however often they are made. */
  calls: number[][][];
  clean: Clean;
}

interface Run {
  told: FlowEvent[];
  calls: Call[];
}

/** Lets random calls of random flows fail, checks the data folder after each, and prints a line for each. Returns the number of wrong ones. */
export async function runCampaign(options: CampaignOptions): Promise<number> {
  if (!hasLayer()) throw new Error('Faults of a disk are available on Linux, after `npm run setup`.');
  process.env['KVASIR_MODELS_HOME'] = '/no-models-here';
  const campaign = new Campaign(realpathSync(options.dir));
  const { url, server } = await serveModel();
  process.env[MODEL_URL] = url;
  try {
    await campaign.fill(options.from);
    for (let round = 0; round < options.rounds && Date.now() < options.endMs; round++)
      await campaign.round({ ...options, seed: options.seed + round });
  } finally {
    server.close();
  }
  process.stdout.write(`\n${campaign.table()}\nlongest start: ${Math.round(campaign.longestOpenMs)} ms\n`);
  return campaign.wrong;
}

class Campaign {
  readonly #dir: string;
  readonly #prepared = new Map<FlowName, Promise<Prepared>>();
  readonly #chunks = new Map<string, string>();
  readonly #counts = new Map<string, { reached: number; wrong: number }>();
  #kept: Acceptance[] = [];
  #answer: string | undefined;
  longestOpenMs = 0;
  wrong = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async fill(from?: string): Promise<void> {
    const root = join(this.#dir, 'filled');
    const data = dataIn(root);
    if (from === undefined) mkdirSync(data, { recursive: true });
    else cpSync(from, data, { recursive: true });
    await withApp(data, async (app, client) => {
      this.#kept = await fill(app, client, data);
    });
    const clean: Clean = { chunks: this.#chunks };
    await check(root, this.#kept, clean);
    this.#answer = clean.answer;
  }

  async round({ seed, ...wanted }: CampaignOptions): Promise<void> {
    const random = randomFrom(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
    const drawn = { flow: pick(FLOW_NAMES), kind: pick(KINDS) };
    const flow = wanted.flow ?? drawn.flow;
    const kind = wanted.kind ?? drawn.kind;
    const prepared = await this.#prepare(flow);
    const fault = { kind, at: wanted.at ?? pick(pick(pick(prepared.calls))) };
    const counts = this.#counts.get(kind) ?? { reached: 0, wrong: 0 };
    this.#counts.set(kind, counts);
    const root = join(this.#dir, 'round');
    let hit: Call | undefined;
    let why: string | undefined;
    try {
      const { told, calls } = await this.#run(flow, prepared.root, root, fault);
      hit = calls.find(({ isFault }) => isFault);
      this.longestOpenMs = Math.max(
        this.longestOpenMs,
        await check(root, promisedOf(this.#kept, told), prepared.clean),
      );
    } catch (error) {
      why = messageOf(error);
      hit ??= readCalls(this.#log).find(({ isFault }) => isFault);
    }
    if (hit) counts.reached++;
    if (why !== undefined) {
      counts.wrong++;
      this.wrong++;
    }
    const place = hit ? `${hit.name} ${hit.path.slice(root.length + 1)}` : 'not reached';
    process.stderr.write(
      `${seed} ${flow} ${kind} ${fault.at}: ${place}${why === undefined ? '' : ' FAILED'}\n`,
    );
    if (why === undefined) return;
    const replay = `npm run faults -- --seed ${seed} --rounds 1 --flow ${flow} --kind ${kind} --at ${fault.at}`;
    process.stderr.write(`  ${why}\n  again: ${replay}\n`);
  }

  table(): string {
    const table = new Table({ head: ['kind', 'faults', 'wrong'], style: { head: [], border: [] } });
    for (const [kind, { reached, wrong }] of this.#counts) table.push([kind, reached, wrong]);
    return table.toString();
  }

  get #log(): string {
    return join(this.#dir, 'calls');
  }

  #prepare(name: FlowName): Promise<Prepared> {
    const known = this.#prepared.get(name) ?? this.#prepareNew(name);
    this.#prepared.set(name, known);
    return known;
  }

  async #prepareNew(name: FlowName): Promise<Prepared> {
    const root = join(this.#dir, name);
    const data = dataIn(root);
    cpSync(join(this.#dir, 'filled'), root, { recursive: true, preserveTimestamps: true });
    await (FLOWS[name] as Flow).prepare?.(data, async (work) => void (await withApp(data, work)));
    const copy = join(this.#dir, 'round');
    const { told, calls } = await this.#run(name, root, copy);
    const failed = told.find((each) => each.kind === 'failed');
    if (failed) throw new Error(`${name} fails without a fault: ${failed.code}: ${failed.message}`);
    requireSeen(root, copy, calls);
    const clean: Clean = {
      chunks: this.#chunks,
      ...(this.#answer !== undefined && { answer: this.#answer }),
    };
    await check(copy, promisedOf(this.#kept, told), clean);
    return { root, calls: byPlace(copy, calls), clean };
  }

  /** Runs a flow on a copy of `from`. Throws if the process fails otherwise than by the fault. */
  async #run(name: FlowName, from: string, root: string, fault?: DiskFault): Promise<Run> {
    rmSync(root, { recursive: true, force: true });
    rmSync(this.#log, { force: true });
    cpSync(from, root, { recursive: true, preserveTimestamps: true });
    const child = spawn(process.execPath, [CHILD, name, dataIn(root)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...withFault(root, this.#log, fault) },
    });
    const begin = performance.now();
    const timer = setInterval(() => {
      if (performance.now() - begin - starvedMs(child.pid ?? 0) > HUNG_MS) child.kill('SIGABRT');
    }, LOOK_MS);
    let output = '';
    let errors = '';
    child.stdout.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
    child.once('exit', () => clearInterval(timer));
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (signal === 'SIGABRT') {
      const { name: last = '', path = '' } = readCalls(this.#log).at(-1) ?? {};
      throw new Error(`it hung after ${last} ${path}; it had told ${output || 'nothing'} ${errors}`);
    }
    if (code !== 0 && signal !== 'SIGKILL')
      throw new Error(`it ended with ${String(code ?? signal)}: ${errors}`);
    const told = output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as FlowEvent);
    return { told, calls: readCalls(this.#log) };
  }
}

function byPlace(root: string, calls: readonly Call[]): number[][][] {
  const numbers = Map.groupBy(calls.keys(), (i) => kindOfFile(root, calls[i] as Call));
  return [...numbers.values()].map((some) => {
    const places = Map.groupBy(some, (i) => placeOf(root, calls[i] as Call));
    return [...places.values()].map((each) => each.map((i) => i + 1));
  });
}

/** The databases of a folder are one kind, and their logs are one: each flow opens them all. */
function kindOfFile(root: string, { path }: Call): string {
  const name = withoutVarying(path.slice(root.length + 1));
  const database = /\.(sqlite|db)(-wal|-shm)?$/.exec(name);
  return database ? `${dirname(name)} ${database[2] === '-wal' ? 'log' : 'database'}` : name;
}

/** SQLite rebuilds a -shm file from the log: a fault there proves little, and is one place for all of them. */
function placeOf(root: string, { name, path }: Call): string {
  return path.endsWith('-shm') ? '-shm' : `${name} ${withoutVarying(path.slice(root.length + 1))}`;
}

function promisedOf(kept: readonly Acceptance[], told: readonly FlowEvent[]): Acceptance[] {
  return [...kept, ...told.filter((each) => each.kind !== 'failed')];
}

/** Throws if a file was changed by a call that was not counted. SQLite's -shm files are mapped, and rebuilt. */
function requireSeen(before: string, after: string, calls: readonly Call[]): void {
  const seen = new Map(calls.map(({ path, size }) => [path, size]));
  for (const entry of readdirSync(after, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.endsWith('-shm')) continue;
    const old = statSync(path.replace(after, before), { throwIfNoEntry: false });
    const now = statSync(path);
    if (old?.size === now.size && Math.abs(old.mtimeMs - now.mtimeMs) < 2) continue; // copies round times
    const size = seen.get(path);
    if (size === undefined || (size >= 0 && size !== now.size))
      throw new Error(`${path} was changed unseen (${String(size)} of ${now.size} bytes)`);
  }
}
