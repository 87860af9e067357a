import type { Command } from 'commander';
import type { Answer, Source } from '../../../../../src-shared/answer.ts';
import type { ModelInUse } from '../../../../../src-shared/contract/models.ts';
import type { FusionPlan, PlanReason } from '../../../../../src-shared/plan.ts';
import { compareTtft, wasFullPrefill, type Ttft } from '../../../../../src-shared/ttft.ts';
import { KvasirError } from '../../../../../src-shared/errors.ts';
import type { StrategyRequest } from '../../../../../src-shared/strategy.ts';
import { engineStrategy } from '../../../../fusion/strategy.ts';
import { formatBytes } from '../../../../platform/format-bytes.ts';
import { ask, type ClientAnswer } from '../../../client/ask.ts';
import type { CoreClient } from '../../../client/client.ts';
import type { CommandContext } from '../../context.ts';
import { milliseconds as ms } from '../../figures.ts';
import { addAnswerFlags, addModelFlags, addTopKFlag, path, type ModelFlags } from '../../options.ts';
import { addStrategyFlags, strategyOf, type StrategyFlags } from '../../strategy-flags.ts';
import { planSentence, prepare, type PrepareReport } from '../../prepare.ts';
import { withProfile } from '../../with-profile.ts';
import { askMany } from './ask-many.ts';
import { webPage } from './web-page.ts';

interface AskFlags extends ModelFlags, StrategyFlags {
  questions?: string;
  library?: string;
  page?: string;
  refetch?: boolean;
  dryRun?: boolean;
  json?: boolean;
  precompute: boolean;
}

interface OneQuestion {
  flags: AskFlags;
  strategy: StrategyRequest | undefined;
  model: ModelInUse;
  /** Ids of what is asked about. */
  scope: { libraryIds?: string[]; documentIds?: string[] };
  prepared: PrepareReport;
  context: CommandContext;
}

export function addAskCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('ask')
    .description('answer a question from a folder of documents')
    .argument('[question]')
    .option(
      '--questions <file>',
      'answer every line of a text file instead; chunks they share are loaded once',
      path(context),
    )
    .option('--library <dir>', 'folder of documents (default: the sample library)', path(context))
    .option('--page <url>', 'answer from a web page instead; it is fetched once, and kept')
    .option('--refetch', 'fetch the page of --page again')
    .option('--json', 'print one JSON object instead of the answer')
    .option('--thinking', 'let the model think first, where it has the choice, and print that to stderr')
    .option(
      '--no-precompute',
      "do not compute the whole library's cache first; what the answer needs is computed and kept",
    )
    .option(
      '--dry-run',
      'read the documents and print what computing their cache takes; compute and answer nothing',
    );
  addStrategyFlags(addAnswerFlags(addTopKFlag(addModelFlags(command, context))));
  command.action((question: string | undefined, flags: AskFlags) => run(question, flags, context));
}

async function run(question: string | undefined, flags: AskFlags, context: CommandContext): Promise<void> {
  if (!flags.dryRun && (question === undefined) === (flags.questions === undefined)) {
    const message = 'There must be either a question or --questions with a file.';
    throw new KvasirError('BAD_ARGUMENT', message, 'See ask --help.');
  }
  await withProfile(context, flags, async (client, model) => {
    const strategy = strategyOf(flags, model.kvLayers);
    const page = flags.page === undefined ? undefined : await webPage(client, flags.page, flags.refetch);
    const library = page?.folder ?? flags.library;
    const precompute = flags.precompute && !flags.dryRun;
    const prepared = await prepare(client, { ...context, ...flags, library, model, precompute });
    if (flags.dryRun) return tellPlan(client, prepared.libraryId, flags, context);
    const scope = page ? { documentIds: [page.documentId] } : { libraryIds: [prepared.libraryId] };
    if (question !== undefined)
      return askOne(client, question, { flags, strategy, model, scope, prepared, context });
    const { questions: file = '', json = false } = flags;
    return askMany(client, { file, scope, strategy, json }, context);
  });
}

/** What computing the library's cache would take. */
async function tellPlan(
  client: CoreClient,
  id: string,
  { json }: AskFlags,
  { terminal }: CommandContext,
): Promise<void> {
  const { plan } = await client.call('libraries.plan', { id });
  if (json) terminal.out(`${JSON.stringify(plan, null, 2)}\n`);
  else terminal.out(`${plan ? planSentence(plan) : 'Nothing to compute: this model does not blend.'}\n`);
}

async function askOne(
  client: CoreClient,
  question: string,
  { flags, strategy, model, scope, prepared, context: { terminal, signal } }: OneQuestion,
): Promise<void> {
  let thought = '';
  const tellThought = (): void => {
    if (flags.thinking && !flags.json && thought !== '') terminal.err(`Thought: ${thought.trimEnd()}\n`);
    thought = '';
  };
  const { sampling } = await client.call('settings.get');
  const answered = await ask(client, {
    question,
    scope,
    strategy: strategy ?? { name: 'auto' },
    seed: sampling[model.path]?.seed ?? 0, // so that an answer can be reproduced
    signal,
    onThought: (text) => {
      thought += text;
    },
    onText: (text) => {
      tellThought();
      if (!flags.json) terminal.out(text);
    },
    onNotice: ({ message }) => terminal.err(`Note: ${message}`),
  });
  tellThought();
  if (flags.json) {
    const json = jsonOf(answered, { flags, strategy, model, prepared });
    terminal.out(`${JSON.stringify(json, null, 2)}\n`);
  } else {
    terminal.out('\n');
    summaryLines(answered).forEach((line) => terminal.err(line));
  }
}

/** The output of --json: the answer, and what was done to the library before. */
function jsonOf(
  { report, thinking, ...answer }: ClientAnswer,
  { flags, strategy, model, prepared }: Omit<OneQuestion, 'context' | 'scope'>,
): Answer & Record<string, unknown> {
  const { name, path, adapter, fingerprint, chunkTokens, kvLayers } = model;
  const { sync, precompute, notices } = prepared;
  const used = answer.strategy;
  return {
    ...answer,
    ...(flags.thinking && { thinking }),
    strategy: engineStrategy(used.name === strategy?.name ? { ...strategy, ...used } : used, kvLayers),
    notices: [...notices, ...answer.notices],
    model: { name, path, adapter, fingerprint },
    library: { ...sync, chunkTokens, precomputed: precompute },
    stages: report?.stages,
  };
}

function summaryLines(answered: ClientAnswer): string[] {
  const { sources, ttftMs, prompt, plan, tokensPerSecond } = answered;
  return [
    '',
    ...cutOffLines(answered),
    ...answered.notices.filter(({ kind }) => kind === 'unsupported').map(({ message }) => message),
    sources.length > 0 ? 'Sources:' : 'Sources: none',
    ...sources.map((source, i) => `  [${i + 1}] ${sourceLine(source)}`),
    `First token after ${ms(ttftMs.total)} (${stagesOf(ttftMs)}); then ${tokensPerSecond.toFixed(0)} tokens/s.`,
    ...besideLines(answered),
    `Prompt of ${prompt.promptTokens} tokens: ${prompt.reusedTokens} from cache, ${prompt.recomputedTokens} of them recomputed; ` +
      `${formatBytes(prompt.bytesLoaded)} loaded.`,
    ...(plan ? [planLine(plan)] : []),
  ];
}

/** Why the answer is incomplete. */
function cutOffLines({ stop, answer, thinking }: ClientAnswer): string[] {
  if (stop === 'length' && answer === '' && thinking !== '')
    return [
      'Cut off: the model was still thinking when the limit was reached. --max-tokens allows more.',
      '',
    ];
  if (stop === 'length')
    return ['Cut off: the answer reached its limit. --max-tokens allows a longer one.', ''];
  if (stop === 'repetition')
    return ['Ended: the model repeats itself. Ask in other words, or choose a larger model.', ''];
  if (stop === 'context')
    return ['Cut off: the context is full. Allow a larger one, or fewer passages with --top-k.', ''];
  return [];
}

/** The first token compared with a full prefill, as in the window. */
function besideLines(answered: ClientAnswer): string[] {
  const beside = compareTtft(answered);
  if (!beside || wasFullPrefill(answered.prompt)) return [];
  const { fullTtftMs, sharedMs, times, verdict } = beside;
  const factor = verdict === 'later' ? 1 / times : times;
  const how = verdict === 'same' ? 'As soon as' : `${factor.toFixed(1)} × ${verdict} than`;
  return [
    `${how} with a full prefill: about ${ms(fullTtftMs)}, of which ${ms(sharedMs)} for the same search, prompt and waiting.`,
  ];
}

/** The decision, and the accuracy of its predicted time. */
function planLine({
  strategy,
  reason,
  predictedTtftMs,
  predictedFullPrefillMs,
  outcomeMs,
  computedInstead,
}: FusionPlan): string {
  const share =
    strategy.name === 'none' || strategy.name === 'full' ? '' : ` at ${Math.round(strategy.ratio * 100)} %`;
  const how = strategy.name === 'full' ? 'Computed in full' : `Blended by ${strategy.name}${share}`;
  const expected = predictedTtftMs === null ? '' : `expected ${ms(predictedTtftMs.total)}, `;
  const full =
    predictedFullPrefillMs === null || strategy.name === 'full'
      ? ''
      : `; computing it all was expected to take ${ms(predictedFullPrefillMs)}`;
  const instead =
    computedInstead === 0
      ? ''
      : ` Cached passages computed because loading takes longer: ${computedInstead}.`;
  return `${how} (${WHY[reason]}). From look-up to the last layer: ${expected}took ${ms(outcomeMs)}${full}.${instead}`;
}

const WHY: Record<PlanReason, string> = {
  asked: 'as asked',
  'not-blended': 'passages of this model cannot be blended',
  unmeasured: 'the default, as nothing was measured here yet',
  floor: 'the least that keeps the quality',
  hidden: 'more than the least, as it hides behind loading',
  'nothing-cached': 'nothing was cached',
  'full-is-faster': 'faster than blending here',
  quality: 'blending is unsuitable for this model',
  watched: 'earlier answers changed too much by blending',
};

const KV: Record<Source['tier'], string> = {
  device: "cache in the GPU's memory",
  ram: 'cache in memory',
  disk: 'cache on disk',
  shared: 'shared cache',
  partial: 'in part from the cache of similar text',
  computed: 'computed',
};

function sourceLine({ document, chunk, score, reason, tier }: Source): string {
  const kv = KV[tier];
  return `${document}, part ${chunk + 1} (score ${score.toFixed(2)}: ${reason}; ${kv})`;
}

function stagesOf({ wait, ...stages }: Ttft): string {
  return Object.entries({ ...stages, wait })
    .filter(([stage, value]) => stage !== 'total' && value >= 0.05)
    .map(([stage, value]) => `${stage === 'firstToken' ? 'first token' : stage} ${ms(value)}`)
    .join(', ');
}
