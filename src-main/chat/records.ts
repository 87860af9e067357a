import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import {
  AnswerStatsSchema,
  CitationSchema,
  ThinkingSchema,
  type AnswerStats,
  type Citation,
  type Message,
  type Thinking,
} from '../../src-shared/contract/chat.ts';
import { ToolCallSchema, type ToolCall } from '../../src-shared/contract/tool-calls.ts';
import { FailureSchema, type Failure } from '../../src-shared/contract/common.ts';
import { NoticeSchema, type Notice } from '../../src-shared/answer.ts';
import { parseOr } from '../platform/parse-or.ts';

/** The token ids that a turn added to the model's context, so that the context can be rebuilt without tokenising text again. */
const TurnContextSchema = z.object({
  /** Of the model that the ids belong to. */
  fingerprint: z.string(),
  /** How many turns of the branch, from its first, were no longer in the context. */
  turnsLeftOut: z.int().min(0),
  /** Passages placed in this turn, in prompt order: index of the citation, token ids, and those of the lead. */
  chunks: z.array(
    z.object({
      citation: z.int().min(0),
      tokens: z.array(z.int()),
      lead: z.array(z.int()).prefault([]), // older turns have none
    }),
  ),
  /** The system message; absent in older turns, which used the one in the settings. */
  systemPrompt: z.string().optional(),
  /** Whether the model should think first; absent in older turns. */
  think: z.boolean().optional(),
  /** The sampled tokens; null until the answer has ended. */
  answer: z.array(z.int()).nullable(),
  /** How many of these belong to a thought before the answer. Later turns omit them. */
  tokensBefore: z.int().min(0).prefault(0), // older turns have none
  /** Declared to the model; absent: none were. */
  tools: z
    .array(
      z.object({
        name: z.string(),
        description: z.string().optional(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    )
    .readonly()
    .optional(),
  /** What a model on a server wrote, in place of sampled tokens; absent in older turns. */
  written: z.object({ thought: z.string(), text: z.string() }).optional(),
});

export type TurnContext = z.infer<typeof TurnContextSchema>;

/** Final states; 'prefilling' and 'streaming' exist only while an answer is in progress. */
export type StoredState = 'waiting' | 'done' | 'stopped' | 'failed';

export interface MessageRecord {
  id: number;
  conversationId: number;
  parentId: number | null;
  role: 'user' | 'assistant';
  text: string;
  thinking: Thinking | null;
  createdMs: number;
  state: StoredState;
  failure: Failure | null;
  citations: Citation[];
  notices: Notice[];
  calls: ToolCall[];
  stats: AnswerStats | null;
  hasReport: boolean;
}

/** A message row from SQLite. */
export interface RawMessage extends Omit<MessageRecord, JsonColumn | 'hasReport'> {
  thinking: string | null;
  failure: string | null;
  citations: string;
  notices: string;
  calls: string;
  stats: string | null;
  hasReport: number;
}

type JsonColumn = 'thinking' | 'failure' | 'citations' | 'notices' | 'calls' | 'stats';

export const MESSAGE_COLUMNS = `m.id, m.conversation_id AS conversationId, m.parent_id AS parentId, m.role, m.text, m.thinking,
  m.created_ms AS createdMs, m.state, m.failure, m.citations, m.notices, m.calls, m.stats,
  EXISTS (SELECT 1 FROM report WHERE answer_id = m.id) AS hasReport`;

/** Fields that an older or newer version wrote differently appear as absent; the text is never lost because of them. */
export function toMessage(raw: RawMessage): MessageRecord {
  return {
    ...raw,
    thinking: parseOr(ThinkingSchema.nullable(), raw.thinking, null),
    failure: parseOr(FailureSchema.nullable(), raw.failure, null),
    citations: parseOr(z.array(CitationSchema), raw.citations, []),
    notices: parseOr(z.array(NoticeSchema), raw.notices, []),
    calls: parseOr(z.array(ToolCallSchema), raw.calls, []),
    stats: parseOr(AnswerStatsSchema.nullable(), raw.stats, null),
    hasReport: raw.hasReport === 1,
  };
}

export function toShownMessage(record: MessageRecord): Message {
  const parentId = record.parentId === null ? null : String(record.parentId);
  const { role, text, thinking, createdMs, state, failure, citations, notices, calls, stats, hasReport } =
    record;
  const shown = {
    role,
    text,
    thinking,
    createdMs,
    state,
    failure,
    citations,
    notices,
    calls,
    stats,
    hasReport,
  };
  return { id: String(record.id), parentId, ...shown };
}

export function endedCall(call: ToolCall): ToolCall {
  return call.state === 'asking' || call.state === 'running' ? { ...call, state: 'stopped' } : call;
}

export function unpackContext(blob: Buffer | null | undefined): TurnContext | undefined {
  if (!blob) return undefined;
  return TurnContextSchema.safeParse(unpack(blob)).data;
}

export function pack(value: unknown): Buffer {
  return gzipSync(JSON.stringify(value), { level: 3 });
}

export function unpack(blob: Buffer): unknown {
  return JSON.parse(gunzipSync(blob).toString('utf8'));
}
