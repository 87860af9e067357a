import type {
  AppendReport,
  KvDtype,
  Loading,
  Model,
  Segment,
  Session,
  Strategy,
} from '../../src-main/engine/engine.ts';
import { UNCALIBRATED } from '../../src-main/fusion/planning/controller.ts';
import { engineStrategy } from '../../src-main/fusion/strategy.ts';
import { bringIntoPageCache, dropFromPageCache, likeliest, PREFIX, type Case } from './prompt.ts';

/** One run of a method: its time to the first token's logits. */
export interface Run {
  ms: number;
  report?: AppendReport;
  /** After a full prefill: the greedy token, to check that all programs compute the same. */
  firstToken?: number;
}

export interface Method {
  name: string;
  run: (prompt: Case) => Promise<Run>;
}

const GBIT = 1e9 / 8;
const FULL: Strategy = { kind: 'full' };
const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;

/** Source of a method's chunks. */
interface Source {
  name: string;
  segments: (prompt: Case) => Segment[];
  files?: (prompt: Case) => string[];
  loading?: Partial<Loading>;
  /** For files: whether they are in the page cache when the clock starts. */
  pages?: 'warm' | 'cold';
}

const RAM: Source = { name: 'RAM', segments: ({ ram }) => ram };
const DISK: Source = {
  name: 'disk, warm',
  segments: ({ disk }) => disk,
  files: ({ files }) => files,
  pages: 'warm',
};
const COLD: Source = { ...DISK, name: 'disk, cold', pages: 'cold' };
const throttled = (gbits: number, serial: boolean): Source => ({
  ...DISK,
  name: `${gbits} Gbit/s${serial ? ', serial' : ''}`,
  loading: { bytesPerSecond: gbits * GBIT, serial },
});

/** The same chunks in another number format. */
function packed(dtype: KvDtype, source: Source): Source {
  const own = (prompt: Case): Case['packed'] => prompt.packed.filter((each) => each.dtype === dtype);
  return {
    ...source,
    name: `${source.name}, ${dtype}`,
    segments: (prompt) => own(prompt).flatMap(({ disk }) => disk),
    files: (prompt) => own(prompt).flatMap(({ files }) => files),
  };
}

interface OursOptions {
  ratios: number[];
  /** Number formats of chunks besides f16. */
  formats: readonly KvDtype[];
  /** Also throttled and cold tiers, and a second turn. */
  tiers: boolean;
  turns: boolean;
}

/** Kvasir's methods. Each begins with an empty session whose memory is allocated. */
export function ourMethods(model: Model, { ratios, formats, tiers, turns }: OursOptions): Method[] {
  const none: Strategy = { kind: 'none' };
  // With the app's check and question layers.
  const deviation = (ratio: number) => engineStrategy({ name: 'deviation', ratio }, model.info.kvLayers);
  const query = (ratio: number) => engineStrategy({ name: 'query', ratio }, model.info.kvLayers);
  const choice = UNCALIBRATED;
  const shipped = engineStrategy(choice, model.info.kvLayers);
  const shippedName = `default (${choice.name} ${percent(choice.ratio)})`;
  const single = (name: string, strategy: Strategy, source: Source): Method => ({
    name: `${name}, ${source.name}`,
    run: (prompt) => withSession(model, prompt, (session) => append(session, prompt, strategy, source)),
  });
  const middle = ratios[Math.floor(ratios.length / 2)] ?? 0.15;
  return [
    {
      name: 'full prefill',
      run: (prompt) =>
        withSession(model, prompt, async (session) => {
          const run = await append(session, prompt, FULL, RAM);
          return { ...run, firstToken: likeliest(session.logits()) };
        }),
    },
    { name: 'full prefill, first chunk prefix-cached', run: (prompt) => prefixCached(model, prompt) },
    ...[RAM, DISK].map((source) => single('none', none, source)),
    ...[RAM, DISK].map((source) => single(shippedName, shipped, source)),
    ...ratios.flatMap((ratio) =>
      [RAM, DISK].map((source) => single(`deviation ${percent(ratio)}`, deviation(ratio), source)),
    ),
    ...ratios.flatMap((ratio) =>
      [RAM, DISK].map((source) => single(`query ${percent(ratio)}`, query(ratio), source)),
    ),
    ...(tiers ? tierMethods(single, none, query(middle), percent(middle)) : []),
    ...formats.flatMap((dtype) =>
      [DISK, COLD].flatMap((source) => [
        single('none', none, packed(dtype, source)),
        single(`query ${percent(middle)}`, query(middle), packed(dtype, source)),
      ]),
    ),
    ...(turns ? turnMethods(model, query(middle)) : []),
  ];
}

function tierMethods(
  single: (name: string, strategy: Strategy, source: Source) => Method,
  none: Strategy,
  query: Strategy,
  ratio: string,
): Method[] {
  const sources = [
    COLD,
    throttled(4, false),
    throttled(4, true),
    throttled(0.5, false),
    throttled(0.5, true),
  ];
  return sources.flatMap((source) => [single('none', none, source), single(`query ${ratio}`, query, source)]);
}

/** The second turn of a conversation whose first was blended: new parts are appended, nothing is prefilled twice. */
function turnMethods(model: Model, strategy: Strategy): Method[] {
  const after = (name: string, segments: (prompt: Case) => Segment[]): Method => ({
    name,
    run: (prompt) =>
      withSession(model, prompt, async (session) => {
        await append(session, prompt, strategy, DISK);
        await session.generate({ maxTokens: 8 });
        return timed(() => session.append(segments(prompt), strategy));
      }),
  });
  return [
    after('turn 2, the same chunks', ({ nextQuestion }) => [nextQuestion]),
    after('turn 2, two new chunks', ({ nextChunks, nextQuestion }) => [...nextChunks, nextQuestion]),
  ];
}

async function withSession<T>(model: Model, prompt: Case, use: (session: Session) => Promise<T>): Promise<T> {
  const next = prompt.nextChunks.length * prompt.chunkTokens;
  const session = model.createSession(prompt.ids.length + next + 128);
  try {
    // Append one token first, so that a session's first allocations are not timed.
    await session.append([{ kind: 'compute', tokens: prompt.ids.slice(0, 1) }], FULL);
    session.truncate(0);
    return await use(session);
  } finally {
    session.dispose();
  }
}

async function append(session: Session, prompt: Case, strategy: Strategy, source: Source): Promise<Run> {
  const files = source.files?.(prompt) ?? [];
  if (source.pages === 'warm') bringIntoPageCache(files);
  if (source.pages === 'cold' && !(await dropFromPageCache(files)))
    throw new Error('The page cache cannot be emptied here: omit cold files with --no-tiers.');
  return timed(() =>
    session.append(source.segments(prompt), strategy, source.loading ? { loading: source.loading } : {}),
  );
}

/** One untimed blend: otherwise the first method would pay for touching memory the first time. */
export async function warmUp(model: Model, prompt: Case): Promise<void> {
  await withSession(model, prompt, (session) => append(session, prompt, { kind: 'none' }, DISK));
}

async function prefixCached(model: Model, prompt: Case): Promise<Run> {
  return withSession(model, prompt, async (session) => {
    const cached = PREFIX + prompt.chunkTokens;
    await session.append([{ kind: 'compute', tokens: prompt.ids.slice(0, cached) }], FULL);
    return timed(() => session.append([{ kind: 'compute', tokens: prompt.ids.slice(cached) }], FULL));
  });
}

async function timed(work: () => Promise<AppendReport>): Promise<Run> {
  const start = performance.now();
  const report = await work();
  return { ms: performance.now() - start, report };
}
