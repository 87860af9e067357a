import { createHash } from 'node:crypto';
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { ModelEntry } from '../../../../../src-shared/contract/models.ts';
import type { ListedModel } from '../../../../completions/names.ts';
import type { ApiCore } from '../core.ts';
import { body, json } from '../schemas.ts';
import { nameOf, tagged } from './names.ts';
import {
  FAILURES,
  RunningSchema,
  ShowRequestSchema,
  ShowSchema,
  TagsSchema,
  VersionSchema,
  type Details,
} from './schemas.ts';

/** The version of Ollama whose API this is; clients compare it with the one that they need. */
const OLLAMA_VERSION = '0.12.11';

/** The model in use is not unloaded. */
const NEVER = '2300-01-01T00:00:00Z';

const tags = createRoute({
  method: 'get',
  path: '/api/tags',
  responses: { 200: json(TagsSchema, 'The models in use, and the libraries'), ...FAILURES },
});

const running = createRoute({
  method: 'get',
  path: '/api/ps',
  responses: { 200: json(RunningSchema, 'The models in use'), ...FAILURES },
});

const show = createRoute({
  method: 'post',
  path: '/api/show',
  request: body(ShowRequestSchema),
  responses: { 200: json(ShowSchema, 'Facts about a model'), ...FAILURES },
});

const version = createRoute({
  method: 'get',
  path: '/api/version',
  responses: { 200: json(VersionSchema, 'The version of Ollama whose API this is'), ...FAILURES },
});

export function addOllamaModelRoutes(app: OpenAPIHono, core: ApiCore): void {
  const modified_at = new Date(core.clock()).toISOString();
  const described = ({ name, kind }: ListedModel) => {
    const entry = entryOf(name, kind, core.models());
    return {
      name: tagged(name),
      model: tagged(name),
      size: entry?.fileBytes ?? 0,
      digest: digestOf(name, entry),
      details: detailsOf(entry),
    };
  };
  app.openapi(tags, (c) => {
    const models = core.completions.models().filter(isKnownToOllama);
    return c.json({ models: models.map((model) => ({ ...described(model), modified_at })) }, 200);
  });
  app.openapi(running, (c) => {
    const models = core.completions
      .models()
      .filter((each) => isKnownToOllama(each) && each.kind !== 'library');
    return c.json(
      { models: models.map((model) => ({ ...described(model), ...loadedAs(model, core) })) },
      200,
    );
  });
  app.openapi(show, (c) => {
    const { model, name = '' } = c.req.valid('json');
    const listed = core.completions.model(nameOf(model ?? name, core));
    const entry = entryOf(listed.name, listed.kind, core.models());
    const told = {
      modified_at,
      details: detailsOf(entry),
      model_info: infoOf(listed.name, entry),
      capabilities: capabilitiesOf(listed, core),
    };
    return c.json({ modelfile: '', parameters: '', template: '', license: '', ...told }, 200);
  });
  app.openapi(version, (c) => c.json({ version: OLLAMA_VERSION }, 200));
  // Clients ask for this to find out whether a server runs.
  app.get('/', (c) => c.text('Kvasir speaks its API: Ollama is running'));
}

/** Ollama has no rerankers. */
function isKnownToOllama({ kind }: ListedModel): boolean {
  return kind !== 'reranker';
}

/** Libraries are answered from by the chat model in use. */
function entryOf(
  name: string,
  kind: ListedModel['kind'],
  entries: readonly ModelEntry[],
): ModelEntry | undefined {
  const inUse = entries.filter(({ active }) => active);
  return kind === 'library'
    ? inUse.find(({ role }) => role === 'chat')
    : inUse.find((each) => each.name === name);
}

function capabilitiesOf({ kind }: ListedModel, { completions }: ApiCore) {
  if (kind === 'embedding') return ['embedding' as const];
  return ['completion' as const, ...(completions.callsTools ? ['tools' as const] : [])];
}

function loadedAs({ name, kind }: ListedModel, { models }: ApiCore) {
  const entry = entryOf(name, kind, models());
  const isOnCpu = entry === undefined || entry.fit.device === 'CPU';
  return {
    expires_at: NEVER,
    size_vram: isOnCpu ? 0 : entry.fileBytes,
    context_length: entry?.fit.contextTokens ?? 0,
  };
}

/** Tells models apart. Not a checksum of the file, which may take minutes to compute. */
function digestOf(name: string, entry: ModelEntry | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([name, entry?.path, entry?.fileBytes]))
    .digest('hex');
}

function detailsOf(entry: ModelEntry | undefined): Details {
  const family = entry?.architecture ?? '';
  return {
    parent_model: '',
    format: 'gguf',
    family,
    families: [family],
    parameter_size: shortNumber(entry?.parameterCount ?? 0),
    quantization_level: entry?.quantization.toUpperCase() ?? '',
  };
}

function infoOf(name: string, entry: ModelEntry | undefined): Record<string, string | number> {
  if (!entry) return {};
  const { architecture, parameterCount, fit, layers } = entry;
  return {
    'general.architecture': architecture,
    'general.basename': name,
    'general.parameter_count': parameterCount,
    [`${architecture}.context_length`]: fit.contextTokens,
    [`${architecture}.block_count`]: layers,
  };
}

/** "1.2B", "34.5M". */
function shortNumber(count: number): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(1)}B` : `${(count / 1e6).toFixed(1)}M`;
}
