import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { CatalogueEntrySchema, type CatalogueEntry } from '../../../../src-shared/contract/models.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import { firstIssue } from '../../../../src-shared/settings.ts';
import { get, TransientDownloadError, textOf } from '../../../platform/download/request.ts';

const CatalogueSchema = z.object({
  version: z.literal(1),
  models: z.array(CatalogueEntrySchema).max(10_000),
});

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

/**
 * Reads the downloadable models from a catalogue (docs/formats/model-catalogue.md). `source`: a file, an http(s) URL,
 * or '' for none. NOT_FOUND if it cannot be read, DOWNLOAD_FAILED if the server refuses, BAD_ARGUMENT if it is not a
 * catalogue.
 */
export async function readCatalogue(source: string): Promise<CatalogueEntry[]> {
  if (source.trim() === '') return [];
  const text = /^https?:\/\//i.test(source) ? await fromWeb(source) : await fromFile(source);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(source, 'it is not JSON', error);
  }
  const parsed = CatalogueSchema.safeParse(value);
  if (!parsed.success) throw invalid(source, firstIssue(parsed.error), parsed.error);
  return parsed.data.models;
}

async function fromWeb(url: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const text = await textOf(await get(url, { accept: 'application/json' }, signal), MAX_BYTES);
    if (text === undefined) throw invalid(url, 'it is larger than 4 MB');
    return text;
  } catch (error) {
    if (!signal.aborted) throw error;
    const seconds = TIMEOUT_MS / 1000;
    throw new TransientDownloadError(
      `The request for the model list ${url} timed out after ${seconds} seconds.`,
      0,
      {
        cause: error,
      },
    );
  }
}

async function fromFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const advice = 'Correct its path in the settings.';
    throw new KvasirError('NOT_FOUND', `The list of models ${path} cannot be read.`, advice, {
      cause: error,
    });
  }
}

function invalid(source: string, why: string, cause?: unknown): KvasirError {
  const advice = 'Correct it, or choose another list in the settings.';
  return new KvasirError('BAD_ARGUMENT', `The list of models ${source} cannot be used: ${why}.`, advice, {
    cause,
  });
}
