import { z } from '@hono/zod-openapi';

/** A field that is accepted only with the one value that has no effect here. */
export function only<T extends string | number | boolean>(value: T) {
  return z.literal(value, { error: `Only ${JSON.stringify(value)} is supported.` }).nullish();
}

/** A field whose value has no effect. */
export const ANY = z.unknown().optional();

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
  typical_p: only(1),
  typ_p: only(1),
  tfs_z: only(1),
  top_a: only(0),
  top_n_sigma: only(-1),
  xtc_probability: only(0),
  xtc_threshold: ANY,
  dry_multiplier: only(0),
  dry_base: ANY,
  dry_allowed_length: ANY,
  dry_penalty_last_n: ANY,
  dry_sequence_breakers: ANY,
  mirostat: only(0),
  mirostat_mode: only(0),
  mirostat_tau: ANY,
  mirostat_eta: ANY,
  dynatemp_range: only(0),
  dynatemp_exponent: ANY,
  length_penalty: only(1),
  use_beam_search: only(false),
  ignore_eos: only(false),
  min_keep: only(0),
  min_tokens: only(0),
  n_probs: only(0),
  stop_token_ids: z.array(z.int()).max(0).nullish(),
  skip_special_tokens: only(true),
  spaces_between_special_tokens: ANY,
  include_stop_str_in_output: only(false),
  // Thoughts are told in `reasoning_content`, as both of these ask for.
  reasoning_format: z
    .enum(['auto', 'deepseek'], { error: 'Only "auto" and "deepseek" are supported.' })
    .nullish(),
  add_generation_prompt: only(true),
  continue_final_message: only(false),
  // Hints to a server about its memory and devices. A prompt that does not fit the context is refused in any case.
  cache_prompt: ANY,
  id_slot: ANY,
  slot_id: ANY,
  n_keep: ANY,
  num_keep: ANY,
  num_ctx: ANY,
  num_batch: ANY,
  num_gpu: ANY,
  num_thread: ANY,
  keep_alive: ANY,
  ttl: ANY,
  draft_model: ANY,
  priority: ANY,
  timings_per_token: only(false),
  return_progress: only(false),
  return_tokens: only(false),
  transforms: z.array(z.unknown()).max(0).nullish(),
  // User and billing information.
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: ANY,
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
