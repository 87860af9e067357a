import { KvasirError } from '../../../src-shared/errors.ts';
import { Interrupted, Refused, Unreachable } from '../../platform/download/request.ts';

/** What was asked for, as people are told of it. */
export interface Asked {
  /** Address of the hub. */
  hub: string;
  /** Empty: nothing of a certain repository. */
  repository: string;
  /** Its page. */
  page: string;
  hasToken: boolean;
}

/** A failure of a request to the hub as what it means: HUB_UNREACHABLE, HUB_GATED, HUB_TOKEN, HUB_CHANGED; others stay what they are. */
export function hubFailure(error: unknown, asked: Asked): unknown {
  if (error instanceof Unreachable) return unreachable(asked.hub, error.message, error);
  if (error instanceof Interrupted && error.retryAfterMs > 0) return busy(error, asked);
  if (!(error instanceof Refused)) return error;
  if (error.reason === 'GatedRepo') return gated(error, asked);
  if (error.status === 401 || error.status === 403) return refusedToken(error, asked);
  if (error.status === 404 || error.status === 410) return changed(error, asked);
  return error;
}

/** One sentence for all the ways in which there is no connection. */
export function unreachable(hub: string, why: string, cause: unknown): KvasirError {
  const reason = why.replace(/^.* could not be reached \((.*)\)\.$/, '$1');
  return new KvasirError(
    'HUB_UNREACHABLE',
    `${new URL(hub).host} cannot be reached (${reason}). Models on this machine still work.`,
    'Check the connection, or the address of the hub in the settings.',
    { cause },
  );
}

function busy({ retryAfterMs, message }: Interrupted, { hub }: Asked): KvasirError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new KvasirError(
    'DOWNLOAD_FAILED',
    `${new URL(hub).host} asks to wait ${seconds} seconds (${message})`,
    'Try again then.',
  );
}

function gated(cause: Refused, { repository, page, hasToken }: Asked): KvasirError {
  const advice = hasToken
    ? `Accept its terms on ${page} with the account that your token belongs to; its owner may have to agree first.`
    : `Accept its terms on ${page}, then enter a token of that account on the Discover screen.`;
  return new KvasirError(
    'HUB_GATED',
    `${repository} hands out its files only to those who have accepted its terms.`,
    advice,
    { cause },
  );
}

function refusedToken(cause: Refused, { hub, repository, hasToken }: Asked): KvasirError {
  const { host } = new URL(hub);
  const what = repository === '' ? 'the request' : repository;
  // A repository that is not there is told no differently from a private one.
  return hasToken
    ? new KvasirError(
        'HUB_TOKEN',
        `${host} refuses ${what} with this token: it is wrong, has ended, or may not read this.`,
        'Enter another token on the Discover screen.',
        { cause },
      )
    : new KvasirError(
        'HUB_TOKEN',
        `${host} refuses ${what} without a token: there is no such repository, or it is private.`,
        'Check its name, or enter a token on the Discover screen.',
        { cause },
      );
}

function changed(cause: Refused, { hub, repository }: Asked): KvasirError {
  const { host } = new URL(hub);
  const what = cause.reason === 'RevisionNotFound' ? `this revision of ${repository}` : repository || 'this';
  return new KvasirError(
    'HUB_CHANGED',
    `${host} does not have ${what} any more: the file changed on the hub, was renamed, or was removed.`,
    'Search for the repository again.',
    { cause },
  );
}
