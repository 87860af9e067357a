import type { HubSource } from '../../../../src-shared/contract/hub.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import {
  TransientDownloadError,
  PermanentDownloadError,
  UnreachableError,
} from '../../../platform/download/request.ts';
import type { HubToken } from './hub-token.ts';

/** The request, as described in messages. */
interface HubRequest {
  hub: string;
  /** Empty: not about a specific repository. */
  repository: string;
  /** Its web page. */
  page: string;
  hasToken: boolean;
}

/**
 * Maps a failed request about a repository ('': none) to its meaning: HUB_UNREACHABLE, HUB_GATED, HUB_TOKEN,
 * HUB_CHANGED; other errors are returned unchanged.
 */
export async function hubFailure(
  error: unknown,
  { hub, repository }: Pick<HubSource, 'hub' | 'repository'>,
  token: HubToken,
): Promise<unknown> {
  const page = `${hub.replace(/\/+$/, '')}/${repository}`;
  const hasToken = (await token.state(hub)).token !== 'none';
  return meaningOf(error, { hub, repository, page, hasToken });
}

function meaningOf(error: unknown, request: HubRequest): unknown {
  if (error instanceof UnreachableError) return unreachable(request.hub, error.message, error);
  if (error instanceof TransientDownloadError && error.retryAfterMs > 0) return busy(error, request);
  if (!(error instanceof PermanentDownloadError)) return error;
  if (error.reason === 'GatedRepo') return gated(error, request);
  if (error.status === 401 || error.status === 403) return refusedToken(error, request);
  if (error.status === 404 || error.status === 410) return changed(error, request);
  return error;
}

/** One sentence for all kinds of connection failure. */
export function unreachable(hub: string, why: string, cause: unknown): KvasirError {
  const reason = why.replace(/^.* could not be reached \((.*)\)\.$/, '$1');
  return new KvasirError(
    'HUB_UNREACHABLE',
    `${new URL(hub).host} cannot be reached (${reason}). Models on this machine still work.`,
    "Check the connection, or the hub's URL in the settings.",
    { cause },
  );
}

function busy({ retryAfterMs, message }: TransientDownloadError, { hub }: HubRequest): KvasirError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new KvasirError(
    'DOWNLOAD_FAILED',
    `${new URL(hub).host} asks to wait ${seconds} seconds (${message})`,
    'Try again then.',
  );
}

function gated(cause: PermanentDownloadError, { repository, page, hasToken }: HubRequest): KvasirError {
  const advice = hasToken
    ? `Accept its terms on ${page} with the account that your token belongs to; its owner may have to agree first.`
    : `Accept its terms on ${page}, then enter a token of that account on the Discover screen.`;
  return new KvasirError(
    'HUB_GATED',
    `${repository} requires you to accept its terms before downloading.`,
    advice,
    { cause },
  );
}

function refusedToken(cause: PermanentDownloadError, { hub, repository, hasToken }: HubRequest): KvasirError {
  const { host } = new URL(hub);
  const what = repository === '' ? 'the request' : repository;
  // The hub answers the same for a missing and for a private repository.
  return hasToken
    ? new KvasirError(
        'HUB_TOKEN',
        `${host} refuses ${what} with this token: it is invalid, expired, or lacks permission.`,
        'Enter another token on the Discover screen.',
        { cause },
      )
    : new KvasirError(
        'HUB_TOKEN',
        `${host} refuses ${what} without a token: the repository does not exist or is private.`,
        'Check its name, or enter a token on the Discover screen.',
        { cause },
      );
}

function changed(cause: PermanentDownloadError, { hub, repository }: HubRequest): KvasirError {
  const { host } = new URL(hub);
  const what = cause.reason === 'RevisionNotFound' ? `this revision of ${repository}` : repository || 'this';
  return new KvasirError(
    'HUB_CHANGED',
    `${host} no longer has ${what}: the file was changed, renamed or removed.`,
    'Search for the repository again.',
    { cause },
  );
}
