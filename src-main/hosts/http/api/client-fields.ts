import { z } from '@hono/zod-openapi';

/** A field that is accepted only with the one value that has no effect here. */
export function only<T extends string | number | boolean>(value: T) {
  return z.literal(value, { error: `Only ${JSON.stringify(value)} is supported.` }).nullish();
}

/** A field whose value has no effect. */
export const ANY = z.unknown().optional();

/** Fields that nothing reads, and which the schema's type therefore lacks. */
export function unread(names: string, schema: z.ZodType = ANY): object {
  return Object.fromEntries(names.split(' ').map((name) => [name, schema]));
}

/** Maximum tokens of an answer. LM Studio and llama.cpp send -1 for no limit, Ollama -2 as well. */
export const LimitSchema = z
  .int()
  .min(-2)
  .refine((tokens) => tokens !== 0, { error: 'An answer has one token at least; -1 sets no limit.' })
  .nullish();

/** Sampler filters, under the names used by llama.cpp, LM Studio, Ollama and vLLM. */
export const FILTERS = {
  /** Samples from this number of most likely tokens; 0 and -1: from all. */
  top_k: z.int().min(-1).max(1_000_000).nullish(),
  /** Excludes tokens below this share of the most likely token's probability. */
  min_p: z.number().min(0).max(1).nullish(),
  /** Divides the logits of the last 64 tokens; 1: none. */
  repeat_penalty: z.number().gt(0).max(10).nullish(),
  repetition_penalty: z.number().gt(0).max(10).nullish(),
  repeat_last_n: only(64),
} as const;

/** Empty tool lists, as sent by clients without tools. */
export const NO_TOOLS = {
  tools: z.array(z.unknown()).max(0, { error: 'Tools need a chat: send messages.' }).nullish(),
  tool_choice: z.enum(['auto', 'none']).nullish(),
  functions: z.array(z.unknown()).max(0).nullish(),
  function_call: z.enum(['auto', 'none']).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
} as const;

/** Fields of other servers' clients, with the values that have no effect. */
export const NO_CHANGE = {
  // Disabled sampling methods.
  ...unread('typical_p typ_p tfs_z length_penalty', only(1)),
  ...unread('top_a xtc_probability dry_multiplier mirostat mirostat_mode dynatemp_range', only(0)),
  ...unread('min_keep min_tokens n_probs', only(0)),
  ...unread('top_n_sigma', only(-1)),
  ...unread('xtc_threshold dry_base dry_allowed_length dry_penalty_last_n dry_sequence_breakers'),
  ...unread('mirostat_tau mirostat_eta dynatemp_exponent spaces_between_special_tokens'),
  ...unread('use_beam_search ignore_eos include_stop_str_in_output continue_final_message', only(false)),
  ...unread('timings_per_token return_progress return_tokens', only(false)),
  ...unread('skip_special_tokens add_generation_prompt', only(true)),
  ...unread('stop_token_ids transforms', z.array(z.unknown()).max(0).nullish()),
  // Thoughts are told in `reasoning_content`, as both of these ask for.
  reasoning_format: z
    .enum(['auto', 'deepseek'], { error: 'Only "auto" and "deepseek" are supported.' })
    .nullish(),
  // Hints to a server about its memory and devices. A prompt that does not fit the context is refused in any case.
  ...unread('cache_prompt id_slot slot_id n_keep num_keep num_ctx num_batch num_gpu num_thread keep_alive'),
  ...unread('ttl draft_model priority prompt_cache_retention'),
  // User and billing information.
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  verbosity: only('medium'),
} as const;

/** Anthropic's cache marker, which other servers' clients send as well. */
export const CacheMarkSchema = z.looseObject({ type: z.literal('ephemeral') }).nullish();

/** Nesting levels of a request with Kvasir's fields: messages, their parts, and fields of those. */
const LEVELS = 6;

/** JSON schemas, and the arguments of a call, in which null is a value. */
function isData(name: string, field: unknown): boolean {
  if (name === 'input') return !Array.isArray(field);
  return ['schema', 'parameters', 'input_schema', 'arguments'].includes(name);
}

/** Clients send null for absent fields: drops them, except in schemas, in arguments, and in the field `verbatim`, where null is a value. */
export function withoutNulls(value: unknown, verbatim?: string, levels = LEVELS): unknown {
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, verbatim, levels - 1));
  const said = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    said.map(([name, field]) => [
      name,
      name === verbatim || isData(name, field) ? field : withoutNulls(field, verbatim, levels - 1),
    ]),
  );
}
