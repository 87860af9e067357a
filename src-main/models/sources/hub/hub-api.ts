import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { firstIssue } from '../../../../src-shared/settings.ts';
import { get, TransientDownloadError, textOf } from '../../../platform/download/request.ts';
import { unreachable } from './refusals.ts';

/** The hub's API format; fields that Kvasir does not need may be absent or different on a mirror. */
const RepositoryInfoSchema = z.object({
  id: z.string().regex(/^(?!\.)[\w.-]+(\/(?!\.)[\w.-]+)?$/),
  downloads: z.number().catch(0),
  gated: z.union([z.literal(false), z.enum(['auto', 'manual'])]).catch(false),
  pipeline_tag: z.string().catch(''),
  tags: z.array(z.string()).catch([]),
  lastModified: z.string().catch(''),
  gguf: z
    .object({ total: z.number().nullable().catch(null), architecture: z.string().catch('') })
    .catch({ total: null, architecture: '' }),
});

const InfoSchema = RepositoryInfoSchema.extend({ sha: z.string().regex(/^[\w.-]{1,100}$/) });

const TreeEntrySchema = z.object({
  type: z.string(),
  path: z.string(),
  size: z.number(),
  lfs: z
    .object({
      oid: z
        .string()
        .regex(/^[0-9a-f]{64}$/i)
        .toLowerCase(),
      size: z.number(),
    })
    .optional()
    .catch(undefined),
});

export type RepositoryInfo = z.infer<typeof RepositoryInfoSchema>;
export type TreeEntry = z.infer<typeof TreeEntrySchema>;

interface HubApiOptions {
  /** URL of the hub. */
  address: () => string;
  /** Headers for a URL: with the token if it is the hub's. */
  headers: (url: string) => Promise<Record<string, string>>;
  /** Timeout for a response including retries, in milliseconds. Default 20,000. */
  timeoutMs?: number | undefined;
}

/** Fields to request from `/api/models`. */
const EXPANDED = ['downloads', 'gated', 'pipeline_tag', 'tags', 'lastModified', 'gguf'];
const PAGE = 20;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_TREE_PAGES = 50;
const ATTEMPTS = 3;
/** Longer Retry-After delays are reported instead of waited for. */
const PATIENCE_MS = 5000;

/**
 * Client for the part of the hub's API that Kvasir uses: https://huggingface.co/docs/hub/api. For failures see
 * refusals.ts.
 */
export class HubApi {
  readonly #options: HubApiOptions;

  constructor(options: HubApiOptions) {
    this.#options = options;
  }

  /** Repositories with GGUF files, most downloaded first. */
  async search(query: string, cursor: string): Promise<{ entries: RepositoryInfo[]; next: string }> {
    const asked = new URLSearchParams({ filter: 'gguf', limit: String(PAGE), sort: 'downloads' });
    asked.set('direction', '-1');
    if (query !== '') asked.set('search', query);
    for (const field of EXPANDED) asked.append('expand[]', field);
    if (cursor !== '') asked.set('cursor', cursor);
    const { value, next } = await this.#json(`api/models?${asked.toString()}`, z.array(z.unknown()));
    // An entry with an unexpected format does not hide the others.
    const entries = value.flatMap((each) => RepositoryInfoSchema.safeParse(each).data ?? []);
    return { entries, next };
  }

  async info(repository: string): Promise<z.infer<typeof InfoSchema>> {
    return (await this.#json(`api/models/${repository}`, InfoSchema)).value;
  }

  /** All files of a repository, fetched page by page. */
  async tree(repository: string, revision: string): Promise<TreeEntry[]> {
    const path = `api/models/${repository}/tree/${encodeURIComponent(revision)}?recursive=true`;
    const entries: TreeEntry[] = [];
    let cursor = '';
    for (let page = 0; page < MAX_TREE_PAGES; page++) {
      const at = cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`;
      const { value, next } = await this.#json(at, z.array(TreeEntrySchema));
      entries.push(...value);
      if (next === '') return entries;
      cursor = next;
    }
    return entries;
  }

  fileUrl(repository: string, revision: string, path: string): string {
    const names = path.split('/').map(encodeURIComponent).join('/');
    return this.#url(`${repository}/resolve/${encodeURIComponent(revision)}/${names}`);
  }

  page(repository: string): string {
    return this.#url(repository);
  }

  #url(path: string): string {
    return `${this.#options.address().replace(/\/+$/, '')}/${path}`;
  }

  async #json<T extends z.ZodType>(path: string, schema: T): Promise<{ value: z.infer<T>; next: string }> {
    const url = this.#url(path);
    const { timeoutMs = 20_000 } = this.#options;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { text, next } = await this.#persist(url, signal);
      return { value: parsed(url, text, schema), next };
    } catch (error) {
      if (signal.aborted)
        throw unreachable(url, `the request timed out after ${timeoutMs / 1000} seconds`, error);
      throw error;
    }
  }

  /** Retries a request if a retry may help soon. */
  async #persist(url: string, signal: AbortSignal): Promise<{ text: string; next: string }> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#text(url, signal);
      } catch (error) {
        if (!(error instanceof TransientDownloadError) || signal.aborted || attempt === ATTEMPTS) throw error;
        if (error.retryAfterMs > PATIENCE_MS) throw error;
        await delay(Math.max(error.retryAfterMs, 250 * attempt), undefined, { signal });
      }
    }
  }

  async #text(url: string, signal: AbortSignal): Promise<{ text: string; next: string }> {
    const headers = { accept: 'application/json', ...(await this.#options.headers(url)) };
    const response = await get(url, headers, signal);
    const text = await textOf(response, MAX_BYTES);
    if (text === undefined) throw strange(url, 'its response is larger than 16 MB');
    return { text, next: cursorOf(response.headers.link) };
  }
}

/**
 * Extracts the next page's cursor from a Link header. Only the cursor is used: requests always go to the hub in the
 * settings, even if a mirror names another.
 */
function cursorOf(link: string | string[] | undefined): string {
  const [, target = ''] = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(String(link ?? '')) ?? [];
  return URL.parse(target, 'http://hub')?.searchParams.get('cursor') ?? '';
}

function parsed<T extends z.ZodType>(url: string, text: string, schema: T): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw strange(url, 'its response is not JSON', error);
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw strange(url, `its response does not match the hub API (${firstIssue(result.error)})`, result.error);
}

function strange(url: string, why: string, cause?: unknown): KvasirError {
  const { host } = new URL(url);
  const advice = "Check the hub's URL in the settings.";
  return new KvasirError('DOWNLOAD_FAILED', `The request to ${host} failed: ${why}.`, advice, { cause });
}
