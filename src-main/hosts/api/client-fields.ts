import { z } from '@hono/zod-openapi';

/** A field that clients send with the one value that means nothing here. */
export function only<T extends string | number | boolean>(value: T) {
  return z.literal(value, { error: `Only ${JSON.stringify(value)} is supported.` }).nullish();
}

/** A field whose value makes no difference. */
export const ANY = z.unknown().optional();

/** Tokens of an answer at most. LM Studio and llama.cpp send -1 for no limit, Ollama -2 as well. */
export const LimitSchema = z
  .int()
  .min(-2)
  .refine((tokens) => tokens !== 0, { error: 'An answer has one token at least; -1 sets no limit.' })
  .nullish();

/** Filters of the sampler, by the names that llama.cpp, LM Studio, Ollama and vLLM give them. */
export const FILTERS = {
  /** Sampled from this many likeliest tokens; 0 and -1: from all. */
  top_k: z.int().min(-1).max(1_000_000).nullish(),
  /** Tokens less likely than this share of the likeliest one's probability are left out. */
  min_p: z.number().min(0).max(1).nullish(),
  /** Divides the logits of tokens among the last 64; 1: none. */
  repeat_penalty: z.number().gt(0).max(10).nullish(),
  repetition_penalty: z.number().gt(0).max(10).nullish(),
  repeat_last_n: only(64),
} as const;

/** Lists of tools that are empty, as clients without tools send them. */
export const NO_TOOLS = {
  tools: z.array(z.unknown()).max(0).nullish(),
  tool_choice: z.enum(['auto', 'none']).nullish(),
  functions: z.array(z.unknown()).max(0).nullish(),
  function_call: z.enum(['auto', 'none']).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
} as const;

/** What other servers' clients send, with the values that change nothing. */
export const NO_CHANGE = {
  // Sampling methods that are off.
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
  add_generation_prompt: only(true),
  continue_final_message: only(false),
  // Hints to a server about its own memory and devices. A prompt that does not fit the context is refused in any case.
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
  // Who asks, and how the request is booked.
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.enum(['auto', 'default']).nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: ANY,
  verbosity: only('medium'),
} as const;

/** Anthropic's way to mark what is to be cached, which other servers' clients send as well. */
export const CacheMarkSchema = z.looseObject({ type: z.literal('ephemeral') }).nullish();

/** Levels of a request that have fields of ours: messages, their parts, and what these have. */
const LEVELS = 6;

/** null is how clients send nothing: such fields are left out, but not of a JSON schema, where null is a value. */
export function withoutNulls(value: unknown, levels = LEVELS): unknown {
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, levels - 1));
  const said = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    said.map(([name, field]) => [name, name === 'schema' ? field : withoutNulls(field, levels - 1)]),
  );
}
