import type { Calibration, TextKind } from '../../../src-shared/contract/calibration.ts';
import type { FusionPlan } from '../../../src-shared/plan.ts';
import type { StrategyChoice, StrategyRequest } from '../../../src-shared/strategy.ts';
import type { KvDtype, Strategy } from '../../engine/engine.ts';
import { engineStrategy, type StrategyOrAuto } from '../strategy.ts';
import type { BlendResult, PromptPart } from '../blender.ts';
import { TimeSlice } from '../../platform/time-slice.ts';
import { findRuns, type ChunkReuse } from '../sources.ts';
import { keyFor, type ChunkCache, type FusionModel } from '../model.ts';
import { libraryIdsOf, textKindOf } from '../text-kind.ts';
import { decide, UNCALIBRATED, type Decision } from './controller.ts';
import type { CostModel } from './cost-model.ts';
import { fileTier, type Piece, type Tier } from './work.ts';

export type { Decision } from './controller.ts';

type PlannedModel = Pick<FusionModel, 'info' | 'path' | 'encodingPrefix' | 'bytesPerToken' | 'onDevice'>;

interface PlannerOptions {
  costs: CostModel;
  store: Pick<ChunkCache, 'entry' | 'similar' | 'shared'>;
  /** The calibration of a model with a kind of text; absent before. */
  calibration: (model: PlannedModel, kind: TextKind) => Calibration | undefined;
  /** The choice for text that was not measured; absent: the controller's default. */
  unmeasured?: ((model: PlannedModel) => StrategyChoice | undefined) | undefined;
  /** The minimum ratio that watching requires for passages of these libraries (watching/); absent: none. */
  leastRatio?: ((model: PlannedModel, libraryIds: readonly string[]) => number) | undefined;
}

interface PlanRequest {
  model: PlannedModel;
  dtype: KvDtype;
  /** Tokens already in the session. */
  past: number;
  strategy: StrategyOrAuto;
}

/** How to blend a prompt, and the prediction for that. */
export interface Plan extends PlanRequest {
  parts: readonly PromptPart[];
  decision: Decision;
  /** Tokens of the parts whose KV is stored; 0 where none is used. */
  cachedTokens: number;
}

/** Slowest first; the added folders of a prompt's chunks count as slower than the store's own. */
function tiersOf(pieces: readonly Piece[]): Tier[] {
  const folders = pieces.flatMap(({ tier }) => (tier?.startsWith('disk:') ? [tier] : []));
  return ['shared', ...new Set(folders), 'disk', 'ram', 'device'];
}

/** Plans how prompts are blended, and learns from the results. */
export class Planner {
  readonly costs: CostModel;
  readonly #options: PlannerOptions;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.costs = options.costs;
  }

  /** The controller's form of a requested strategy, for a model that blends. BAD_ARGUMENT. */
  resolve(model: PlannedModel, { name, ...parts }: StrategyRequest): StrategyOrAuto {
    if (name === 'auto') return { kind: 'auto' };
    return engineStrategy({ name, ...parts }, model.info.kvLayers);
  }

  /** How prompts of documents are usually blended. */
  usualStrategy(model: PlannedModel): Strategy {
    const { calibration, unmeasured } = this.#options;
    const measured = calibration(model, textKindOf([]))?.choice;
    const choice = measured?.verdict === 'blend' ? measured.strategy : (unmeasured?.(model) ?? UNCALIBRATED);
    return engineStrategy(choice, model.info.kvLayers);
  }

  /** Whether cached chunks are used at all: not if a full prefill is requested, or calibration found it to be better. */
  blends(model: PlannedModel, strategy: StrategyOrAuto, kind: TextKind): boolean {
    if (strategy.kind !== 'auto') return strategy.kind !== 'full';
    const verdict = this.#options.calibration(model, kind)?.choice.verdict;
    return verdict === undefined || verdict === 'blend';
  }

  /** Looks up where the parts' chunks are, without opening them. */
  async plan(parts: readonly PromptPart[], request: PlanRequest): Promise<Plan> {
    const { model, strategy, past } = request;
    const kind = textKindOf(parts);
    const blends = this.blends(model, strategy, kind);
    const elsewhere = await this.#locate(blends ? parts : [], request);
    const found: PromptPart[] = [];
    const slice = new TimeSlice(); // chunks that are not stored are matched with stored ones
    for (const part of parts) {
      found.push(blends ? await this.#lookUp(part, request, elsewhere) : part);
      await slice.step();
    }
    const pieces = found.map((part, i) => this.#pieces(part, i, request, elsewhere));
    const work = { past, pieces: pieces.flat() };
    const decision = decide(work, strategy, {
      info: model.info,
      costs: this.costs,
      tiers: tiersOf(work.pieces),
      calibrated: this.#options.calibration(model, kind)?.choice,
      unmeasured: this.#options.unmeasured?.(model),
      leastRatio: this.#options.leastRatio?.(model, libraryIdsOf(parts)),
    });
    const instead = new Set([...decision.computed].map((index) => work.pieces[index]?.chunk));
    const planned = found.map((part, i) => (instead.has(i) ? { ...part, compute: true } : part));
    const cached = decision.strategy.kind === 'full' ? [] : work.pieces.filter(({ tier }) => tier !== null);
    const cachedTokens = cached.reduce((sum, { tokens }) => sum + tokens, 0);
    return { ...request, parts: planned, decision, cachedTokens };
  }

  /** Learns from an executed plan. Returns the plan for reports. */
  done({ parts, decision, ...request }: Plan, { report, reuse, acquireMs }: BlendResult): FusionPlan {
    const work = { past: request.past, pieces: piecesDone(parts, reuse, request) };
    this.costs.observe(request.model.info, { work, report, acquireMs });
    const outcomeMs = acquireMs + report.totalMs;
    const { requested, choice, reason, fellBack, predicted, predictedFullMs } = decision;
    const { obstacle } = request.model.info;
    return {
      wish: requested.kind,
      strategy: choice,
      reason,
      ...(reason === 'not-blended' && obstacle !== '' && { obstacle }),
      fellBack,
      tier: shown(decision.tier),
      cheapestTier: shown(decision.cheapestTier),
      computedInstead: parts.filter(({ compute }) => compute).length,
      predictedTtftMs: predicted,
      predictedFullPrefillMs: predictedFullMs,
      outcomeMs,
      errorShare: predicted && outcomeMs > 0 ? (predicted.total - outcomeMs) / outcomeMs : null,
    };
  }

  /** Which chunks other machines have that are not stored here. The first time, their latency is measured. */
  async #locate(parts: readonly PromptPart[], { model, dtype }: PlanRequest): Promise<ReadonlySet<string>> {
    const { shared } = this.#options.store;
    if (!shared?.available) return new Set();
    const chunks = parts.filter(({ kind, compute }) => kind === 'chunk' && compute !== true);
    const found = await shared.locate(chunks.map((part) => keyFor(model, dtype, part)));
    const [first] = found;
    if (first !== undefined && this.costs.transfer(0) === null) await shared.probe(first);
    return found;
  }

  /** Records, for a chunk that is stored nowhere, its runs in other chunks. */
  async #lookUp(
    part: PromptPart,
    { model, dtype }: PlanRequest,
    elsewhere: ReadonlySet<string>,
  ): Promise<PromptPart> {
    const { store } = this.#options;
    if (part.kind !== 'chunk') return part;
    const key = keyFor(model, dtype, part);
    if (store.entry(key) || elsewhere.has(key)) return part;
    const runs = await findRuns(part.tokens, { model, store, dtype });
    return runs ? { ...part, runs } : part;
  }

  /** The parts of a chunk to reuse and to compute. */
  #pieces(
    { kind, tokens, lead, runs }: PromptPart,
    chunk: number,
    { model, dtype }: PlanRequest,
    elsewhere: ReadonlySet<string>,
  ): Piece[] {
    const piece = (count: number, tier: Tier | null): Piece => ({
      tokens: count,
      tier,
      bytes: count * model.bytesPerToken(dtype),
      ...(kind === 'chunk' && { chunk }),
    });
    if (kind === 'text') return [piece(tokens.length, null)];
    if (!runs) {
      const key = keyFor(model, dtype, { tokens, lead });
      return [piece(tokens.length, this.#tier(key, model) ?? (elsewhere.has(key) ? 'shared' : null))];
    }
    return runs.spans.map((run) =>
      piece(run.count, run.kind === 'reuse' ? this.#tier(runs.keys.get(run.candidate), model) : null),
    );
  }

  #tier(key: string | undefined, model: PlannedModel): Tier | null {
    const entry = key === undefined ? undefined : this.#options.store.entry(key);
    if (key === undefined || !entry) return null;
    return model.onDevice(key) ? 'device' : entry.inRam ? 'ram' : fileTier(entry.folder);
  }
}

/** What was finally reused and computed: each run of a partly matched chunk is a piece. */
function piecesDone(
  parts: readonly PromptPart[],
  reuse: readonly ChunkReuse[],
  { model, dtype }: PlanRequest,
): Piece[] {
  const chunks = reuse.values();
  const piece = (tokens: number, tier: Tier | null): Piece[] =>
    tokens > 0 ? [{ tokens, tier, bytes: tokens * model.bytesPerToken(dtype) }] : [];
  return parts.flatMap(({ kind, tokens }) => {
    const found = kind === 'chunk' ? chunks.next().value : undefined;
    const tier = found?.tier === 'disk' ? fileTier(found.folder) : (found?.tier ?? null);
    let at = 0;
    const reused = (found?.tier === 'computed' ? [] : (found?.runs ?? [])).flatMap(({ begin, count }) => {
      const pieces = [...piece(begin - at, null), ...piece(count, tier)];
      at = begin + count;
      return pieces;
    });
    return [...reused, ...piece(tokens.length - at, null)];
  });
}

function shown(tier: Tier | null): FusionPlan['tier'] {
  return tier === 'device' || tier === 'ram' || tier === 'shared' || tier === null ? tier : 'disk';
}
