import {
  ConversationOptionsSchema,
  mayContinue,
  type AnswerStats,
  type Conversation,
  type ConversationOptions,
  type ConversationSummary,
  type Draft,
  type Message,
} from '../../src-shared/contract/chat.ts';
import type { ContextEstimate } from '../../src-shared/contract/context.ts';
import type { ParsedInputOf } from '../../src-shared/contract/contract.ts';
import type { Project, ProjectFields } from '../../src-shared/contract/projects.ts';
import type { CallDecision } from '../../src-shared/contract/tool-calls.ts';
import type { FusionReport } from '../../src-shared/fusion-report.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../fusion/model.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import { traceOf } from '../platform/failure.ts';
import { idText, notFound, rowId } from '../platform/ids.ts';
import { RecurringTask } from '../platform/recurring-task.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { AnswerMaker } from '../answering/answer.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import { usableTools } from '../answering/tools/usable-tools.ts';
import { Answerer } from './answerer.ts';
import { AnswerRuns, type RegenerateOptions, type ChatModels, type LocalChatModels } from './answer-runs.ts';
import { CompareService } from './compare-service.ts';
import { ContextEstimates } from './context-estimates.ts';
import { ConversationStore, titleFrom } from './conversations.ts';
import { exportConversation, type ExportFile } from './export.ts';
import { measureFullPrefill } from './full-prefill.ts';
import { MissWriter } from '../answering/miss-writer.ts';
import { templateFailure } from '../answering/template.ts';
import type { Tables } from '../answering/tables/computed-passage.ts';
import type { WaitingPrompts } from '../answering/waiting-prompts.ts';
import { warmUp } from '../answering/warm-up.ts';
import { withLivingDocuments, type Passages } from '../answering/passages.ts';
import { AnswerRecomputer } from './answer-recomputer.ts';
import { toShownMessage, type MessageRecord } from './records.ts';
import { ConversationSessions } from './sessions.ts';
import type { Core } from '../platform/core.ts';
import type { ToolSource } from '../tools/tool.ts';

interface ChatServiceOptions extends Core {
  /** Path of the conversation database. */
  path: string;
  models: ChatModels;
  /** For what needs the model's engine. */
  localModels: LocalChatModels;
  retrieval: Retrieval;
  passages: Passages;
  store: ChunkCache;
  planner: Planner;
  prefixes: StoredPrefixes;
  tables?: Tables | undefined;
  /** Loads the chunks of questions that wait; absent: they are answered in call order. */
  waiting?: Pick<WaitingPrompts, 'add' | 'search'> | undefined;
  /** Of the tools that answers may call; absent: there are none. */
  toolSources?: readonly ToolSource[];
  /** Questions to start with. */
  suggestions?: () => string[];
  clock?: Clock;
  /** Called when the conversation database could not be read and was set aside. */
  onSetAside?: ((what: QuarantinedDatabase) => void) | undefined;
}

/** Time in milliseconds between two rounds of removing deleted conversations. */
const REMOVAL_MS = 600_000;

/** Declared to find out whether a model's template has tools. */
const ANY_TOOL = { name: 'any', parameters: { type: 'object', properties: {} } };

/** Ids of a new question and its answer. */
export interface SendResult {
  conversationId: string;
  questionId: string;
  answerId: string;
}

/**
 * Conversations: questions and answers, in branches, and their events for windows. Long because of its many short methods: it is the single
 * interface to conversations; the files next to it implement them.
 */
export class ChatService {
  /** Compares other ways to compute an answer's prompt. */
  readonly comparisons: CompareService;
  /** Recomputes answers and compares them with their full prefill. */
  readonly remade: AnswerRecomputer;
  readonly #options: ChatServiceOptions;
  readonly #store: ConversationStore;
  readonly #sessions: ConversationSessions;
  readonly #misses: MissWriter;
  readonly #answerer: Answerer;
  readonly #estimates: ContextEstimates;
  readonly #runs: AnswerRuns;
  readonly #removal: RecurringTask;
  readonly #unsubscribe: (() => void)[];

  /** STORE_READ_ONLY, STORE_VERSION, DISK_FULL. */
  constructor(options: ChatServiceOptions) {
    this.#options = options;
    const { models, localModels, settings, events, gate, log, clock = systemClock } = options;
    this.#store = ConversationStore.open(options.path, clock, options.onSetAside);
    this.#sessions = new ConversationSessions(() => settings.current.conversationBudgetBytes);
    this.#misses = new MissWriter({
      ...options,
      gate,
      costs: options.planner.costs,
      onBackgroundError: (error) => log.warn('miss-not-stored', { error: String(error) }),
    });
    const { messages } = this.#store;
    const { toolSources = [] } = options;
    const shared = { messages, sessions: this.#sessions, misses: this.#misses, clock, toolSources };
    const openSession = this.openSession.bind(this);
    const maker = new AnswerMaker({ ...options, ...shared, openSession });
    this.#answerer = new Answerer({ ...options, ...shared, maker });
    this.#estimates = new ContextEstimates({ ...options, ...shared, maker });
    this.#runs = new AnswerRuns({ ...options, ...shared, answerer: this.#answerer });
    const transaction = <T>(work: () => T): T => this.#store.transaction(work);
    this.comparisons = new CompareService({ ...options, ...shared, transaction });
    this.remade = new AnswerRecomputer({ ...options, ...shared });
    this.#removal = new RecurringTask({
      work: (signal) => this.#removeDeleted(signal),
      pauseMs: REMOVAL_MS,
      onFailed: (error) => log.warn('deleted-conversations-not-removed', { error: traceOf(error) }),
    });
    this.#removal.soon();
    const removal = setInterval(this.#removal.soon, REMOVAL_MS).unref();
    this.#unsubscribe = [
      () => clearInterval(removal),
      models.onChange(({ model }) => this.#sessions.keepOnly(model)),
      localModels.onChange(({ model, name }) => {
        const failure = templateFailure({ ...model.info, name });
        if (failure) events.emit('app.notice', { level: 'warning', failure });
      }),
      // An answer in progress needs its session; its end also trims.
      settings.onChange(() => this.#runs.working || this.#sessions.trim()),
    ];
  }

  /** Stops every answer; each keeps its text so far. */
  async close(): Promise<void> {
    for (const end of this.#unsubscribe) end();
    this.#estimates.close();
    await Promise.all([this.#runs.close(), this.comparisons.close()]);
    await this.#removal.close();
    await this.#misses.stop();
    this.#sessions.dropAll();
    this.#store.close();
  }

  /** Releases everything held of a model's memory, before the model is disposed. */
  releaseModel(model: unknown): void {
    this.#sessions.dropModel(model);
  }

  /** A session for work outside conversations, which give up theirs when memory runs out; the caller disposes it. OUT_OF_MEMORY. */
  openSession(model: FusionModel, capacity: number): FusionSession {
    return this.#sessions.borrow(model, capacity);
  }

  /** Resolves when no answer is in progress, and misses and prefixes are stored. */
  async idle(): Promise<void> {
    await this.#runs.idle();
    await this.#misses.idle();
    await this.#options.prefixes.idle();
  }

  /** Prepares for the first question with the model in use, as background work; false when there were no passages for it. */
  async warmUp(signal: AbortSignal): Promise<boolean> {
    const { localModels, settings } = this.#options;
    if (!localModels.active) return false;
    const openSession = this.openSession.bind(this);
    const { model } = localModels.active;
    return warmUp({ ...this.#options, model, settings: settings.current, openSession, signal });
  }

  list(search = ''): ConversationSummary[] {
    return this.#store.list(search, (id) => this.#runs.busy(id));
  }

  /** Without options: those of the project. NOT_FOUND. */
  create(options?: ConversationOptions, projectId: string | null = null): Conversation {
    const project = projectId === null ? undefined : this.#store.projects.require(projectId);
    const chosen = options ?? project?.options ?? ConversationOptionsSchema.parse({});
    const id = this.#store.create(chosen, project ? Number(project.id) : null);
    this.#changed();
    return this.get(String(id));
  }

  /** NOT_FOUND. */
  get(id: string): Conversation {
    const { leafId, projectId, ...conversation } = this.#require(id);
    return {
      ...conversation,
      id: String(conversation.id),
      leafId: idText(leafId),
      projectId: idText(projectId),
      messages: this.#store.messages.all(conversation.id).map((message) => this.#shown(message)),
      residentTokens: this.#sessions.tokens(conversation.id),
    };
  }

  rename(id: string, title: string): void {
    const conversation = this.#require(id);
    this.#store.transaction(() => this.#store.rename(conversation.id, title));
    this.#changed(id);
  }

  setOptions(id: string, options: ConversationOptions): void {
    this.#store.setOptions(this.#require(id).id, options);
    this.#changed(id);
  }

  setPinned(id: string, pinned: boolean): void {
    this.#store.setPinned(this.#require(id).id, pinned);
    this.#changed(id);
  }

  /** Into a project, or out of any (null). NOT_FOUND. */
  move(id: string, projectId: string | null): void {
    const project = projectId === null ? null : Number(this.#store.projects.require(projectId).id);
    this.#store.move(this.#require(id).id, project);
    this.#changed(id);
  }

  projects(): Project[] {
    return this.#store.projects.list();
  }

  createProject(fields: ProjectFields): Project {
    const project = this.#store.projects.create(fields);
    this.#changed();
    return project;
  }

  /** NOT_FOUND. */
  changeProject(project: Project): Project {
    const changed = this.#store.projects.change(project);
    this.#changed();
    return changed;
  }

  /** Its conversations stay. NOT_FOUND. */
  deleteProject(id: string): void {
    this.#store.projects.delete(id);
    this.#changed();
  }

  drafts(): Draft[] {
    return this.#store.drafts().map((draft) => ({ ...draft, conversationId: idText(draft.conversationId) }));
  }

  /** null: the new conversation. */
  setDraft({ conversationId, text }: Draft): void {
    const id = conversationId === null ? null : this.#require(conversationId).id;
    this.#store.transaction(() => this.#store.setDraft(id, text));
  }

  delete(id: string): void {
    const conversation = this.#require(id);
    this.#runs.stop(conversation.id);
    const forget = (): void => this.#sessions.drop(conversation.id);
    if (this.#runs.busy(conversation.id)) void this.#runs.ended(conversation.id).then(forget);
    else forget();
    this.#store.delete(conversation.id);
    this.#changed();
  }

  restore(id: string): Conversation {
    this.#store.restore(rowId(id, 'conversation'));
    this.#changed();
    return this.get(id);
  }

  /** NOT_FOUND, CONFLICT while an answer is in progress. */
  send(conversationId: string, text: string): SendResult {
    const { id, leafId } = this.#require(conversationId);
    return this.#ask(id, leafId, text);
  }

  /** As ContextEstimates.estimate; NOT_FOUND. */
  estimate(asked: ParsedInputOf<'chat.estimate'>): Promise<ContextEstimate | null> {
    const { conversationId, projectId = null, ...draft } = asked;
    const conversation = conversationId === null ? undefined : this.#require(conversationId);
    const project = conversation ? idText(conversation.projectId) : projectId;
    const instructions = this.#instructionsOf(project);
    return this.#estimates.estimate({ ...draft, instructions }, conversation);
  }

  /** Asks again: the new answer is added next to the old one. `mayGuess`: even where no passage matches. */
  regenerate(conversationId: string, answerId: string, how: RegenerateOptions = {}): SendResult {
    const conversation = this.#require(conversationId);
    const answer = this.#message(answerId, conversation.id, 'assistant');
    this.#runs.requireFree(conversation.id);
    const question = this.#store.messages.require(answer.parentId ?? -1, conversation.id);
    return this.#answer(conversation.id, question, how);
  }

  /** Continues an answer in place. NOT_FOUND, CONFLICT while another is in progress, or when nothing more can follow. */
  continue(conversationId: string, answerId: string): SendResult {
    const conversation = this.#require(conversationId);
    const answer = this.#message(answerId, conversation.id, 'assistant');
    this.#runs.requireFree(conversation.id);
    if (!mayContinue(answer)) {
      const message = 'This answer is already complete, or was never started.';
      throw new KvasirError('CONFLICT', message, 'Ask for more with another question.');
    }
    this.#runs.continue(answer, conversation.options);
    this.#changed(conversationId);
    return { conversationId, questionId: String(answer.parentId), answerId };
  }

  /** Asks a different question in place of an existing one: both are kept as siblings, each with its answer. */
  edit(conversationId: string, questionId: string, text: string): SendResult {
    const conversation = this.#require(conversationId);
    const question = this.#message(questionId, conversation.id, 'user');
    return this.#ask(conversation.id, question.parentId, text);
  }

  selectLeaf(id: string, leafId: string): void {
    const conversation = this.#require(id);
    const message = this.#store.messages.require(rowId(leafId, 'message'), conversation.id);
    this.#store.setLeaf(conversation.id, this.#store.messages.newestLeaf(message.id));
    this.#changed(id);
  }

  /** Whether the model in use can call tools; null: there is none, or its server knows. */
  takesTools(): boolean | null {
    const { active } = this.#options.models;
    if (!active || !backendOf(active.model).takesGrammar) return null;
    return usableTools(active, [ANY_TOOL], false) !== undefined;
  }

  /** NOT_FOUND unless the call waits for a decision. */
  decideCall(answerId: string, callId: string, decision: CallDecision): void {
    const live = this.#runs.live(rowId(answerId, 'message'));
    if (!live?.decide(callId, decision)) throw notFound('call');
  }

  stop(id: string): void {
    this.#runs.stop(this.#require(id).id);
  }

  export(id: string, format: 'markdown' | 'json', { thinking = false } = {}): ExportFile {
    return exportConversation(this.get(id), { format, thinking });
  }

  report(answerId: string): FusionReport | null {
    return this.#store.messages.report(this.#store.messages.require(rowId(answerId, 'message')).id);
  }

  /** Prefills an answer's prompt in full and stores the time. NOT_FOUND, CONFLICT, ABORTED, OUT_OF_MEMORY. */
  measureFullPrefill(answerId: string): Promise<AnswerStats> {
    const { messages } = this.#store;
    const answer = messages.require(rowId(answerId, 'message'));
    const { settings, planner } = this.#options;
    return this.#runs.alone(answer.conversationId, answer.id, ({ model }, live) => {
      const shared = { messages, sessions: this.#sessions, planner, settings: settings.current };
      return measureFullPrefill(answer, { ...this.#options, ...shared, model, live });
    });
  }

  suggestions(): string[] {
    return this.#options.suggestions?.() ?? [];
  }

  #ask(conversationId: number, parentId: number | null, text: string): SendResult {
    this.#runs.requireFree(conversationId);
    const { messages } = this.#store;
    const question = this.#store.transaction(() => {
      if (this.#store.require(conversationId).title === '')
        this.#store.rename(conversationId, titleFrom(text));
      return messages.require(messages.add(conversationId, parentId, 'user', text));
    });
    return this.#answer(conversationId, question);
  }

  #answer(conversationId: number, question: MessageRecord, how: RegenerateOptions = {}): SendResult {
    const answerId = this.#store.durable(() => {
      const id = this.#store.messages.add(conversationId, question.id, 'assistant', '');
      this.#store.setLeaf(conversationId, id);
      return id;
    });
    const { options, projectId } = this.#store.require(conversationId);
    const instructions = this.#instructionsOf(idText(projectId));
    this.#runs.start(question, answerId, { options, instructions, ...how });
    this.#changed(String(conversationId));
    return {
      conversationId: String(conversationId),
      questionId: String(question.id),
      answerId: String(answerId),
    };
  }

  /** ABORTED. */
  async #removeDeleted(signal: AbortSignal): Promise<void> {
    const slice = new TimeSlice();
    await this.#store.removeDeleted(() => slice.step(signal));
  }

  #instructionsOf(projectId: string | null): string {
    return projectId === null ? '' : this.#store.projects.require(projectId).instructions;
  }

  #require(id: string) {
    return this.#store.require(rowId(id, 'conversation'));
  }

  #message(id: string, conversationId: number, role: MessageRecord['role']): MessageRecord {
    const message = this.#store.messages.require(rowId(id, 'message'), conversationId);
    if (message.role === role) return message;
    const wanted = role === 'user' ? 'a question' : 'an answer';
    throw new KvasirError('BAD_ARGUMENT', `Message ${id} is not ${wanted}.`);
  }

  /** A message in its current state: with text in progress, and links only to documents that still exist. */
  #shown(record: MessageRecord): Message {
    const live = this.#runs.live(record.id);
    const message = { ...toShownMessage(record), ...this.#runs.unsaved(record.id) };
    const citations = live && live.citations.length > 0 ? live.citations : message.citations;
    return {
      ...message,
      ...(live && { state: live.state, ...live.soFar }),
      citations: withLivingDocuments(citations, this.#options.passages),
    };
  }

  #changed(conversationId?: string): void {
    this.#options.events.emit('chat.changed', conversationId === undefined ? {} : { conversationId });
  }
}
