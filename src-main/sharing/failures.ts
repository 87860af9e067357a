import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';

/** Why a shared cache did not do what it was asked for. */
export type Reason = keyof typeof SENTENCES;

/** What is said of each, and what to do. `where` is the folder, the server or the bucket. */
const SENTENCES = {
  unknownHost: ['{where} is not known: there is no host of that name.', 'Correct the address.'],
  unreachable: [
    '{where} cannot be reached: nothing answers there, or the connection was cut.',
    'See that the server runs, and that host and port are right.',
  ],
  timeout: ['{where} did not answer in time.', 'See whether the server or the network is overloaded.'],
  certificate: [
    'The certificate of {where} cannot be trusted.',
    'Name the file of the authority that issued it, and use the host name that it is for.',
  ],
  noTls: [
    '{where} does not speak TLS.',
    'Switch encryption of the connection off, or use the port that has it.',
  ],
  password: ['{where} refused the password or the access key.', 'Enter them again.'],
  denied: [
    '{where} does not allow this to the user.',
    'Ask whoever looks after it for the rights to read and write.',
  ],
  noBucket: ['{where}: there is no such bucket.', 'Correct its name, or have it made.'],
  noFolder: ['{where} is not there.', 'See that the network drive is connected, and that the path is right.'],
  readOnly: ['{where} can be read but not written.', 'Ask for the right to write, or switch "read only" on.'],
  full: ['{where} is full.', 'Free some space there, or give it a limit.'],
  noKey: [
    'A secret for {where} cannot be read: the keyring it was encrypted with is not at hand.',
    'Enter it again.',
  ],
  keyMissing: [
    'What is shared in {where} is to be encrypted, and the key is not on this machine: nothing is shared.',
    'Enter the team’s key, or remove it to share without encryption.',
  ],
  secrets: [
    'The file with the secrets of the shared cache cannot be read: nothing is shared.',
    'Enter the secrets again; the file is then set aside.',
  ],
  damaged: ['{where} gave a damaged value; it is not used.', ''],
  gone: ['{where} no longer has a value that it had.', ''],
  noAuthorities: [
    'The file of certificates to trust cannot be read.',
    'Correct its path in the settings: it holds certificates in PEM.',
  ],
  incomplete: ['The shared cache is not set up completely.', 'Fill in what is missing in the settings.'],
  other: ['{where} failed.', ''],
} as const satisfies Record<string, readonly [string, string]>;

export const DAMAGED = 'A value is not as it was written.';

/** A failure whose reason is known where it happens. */
export class SharingError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** One value or one write failed; the others need not. */
const OF_ONE: readonly Reason[] = ['damaged', 'gone', 'full', 'readOnly'];

/** Whether nothing else is to be expected either for a while. */
export function isOut(reason: Reason): boolean {
  return !OF_ONE.includes(reason);
}

export function failureFor(reason: Reason, where: string, detail = ''): Failure {
  const [sentence, advice] = SENTENCES[reason];
  const said = sentence.replace('{where}', where);
  const message =
    reason === 'other' && detail !== '' ? `${said.slice(0, -1)}: ${detail.replace(/\.$/, '')}.` : said;
  return {
    code: 'SHARING_FAILED',
    message,
    advice,
    values: { where: where === '' ? 'sharing-place' : where, reason: `sharing-${reason}` },
  };
}

export function failureOfSharing(error: unknown, where: string): Failure {
  return failureFor(reasonOf(error), where, messageOf(error));
}

/** What rejects calls of the shared tier: to who asked it is a value that did not come. */
export function sharingFailed(error: unknown, where: string): KvasirError {
  const { message, advice } = failureOfSharing(error, where);
  return new KvasirError('SHARED_TIER_FAILED', message, advice, { cause: error });
}

const BY_CODE: Record<string, Reason> = {
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  EAI_FAIL: 'unknownHost',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EPIPE: 'unreachable',
  ETIMEDOUT: 'timeout',
  TimeoutError: 'timeout',
  EROFS: 'readOnly',
  EACCES: 'denied',
  EPERM: 'denied',
  ENOSPC: 'full',
  EDQUOT: 'full',
  EIO: 'unreachable',
  ESTALE: 'unreachable',
  NoSuchBucket: 'noBucket',
  InvalidAccessKeyId: 'password',
  SignatureDoesNotMatch: 'password',
  CredentialsProviderError: 'password',
  AccessDenied: 'denied',
  QuotaExceeded: 'full',
};

/** The first word of what a Redis server refuses with. */
const BY_WORD: Record<string, Reason> = {
  WRONGPASS: 'password',
  NOAUTH: 'password',
  NOPERM: 'denied',
  READONLY: 'readOnly',
  OOM: 'full',
  MISCONF: 'full',
};

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;
const CUT = /^(Connection is closed|Command aborted|Socket closed|socket hang up|aborted)/i;

/** Looks through the causes: what failed is often wrapped. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof SharingError) return error.reason;
  if (!(error instanceof Error)) return 'other';
  const {
    code = '',
    name,
    message,
    $metadata,
  } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  const known = BY_CODE[code] ?? BY_CODE[name] ?? BY_WORD[message.split(' ')[0] ?? ''];
  if (known) return known;
  if (CERTIFICATE.test(code)) return 'certificate';
  if (/^(EPROTO|ERR_SSL)/.test(code)) return 'noTls';
  if (/invalid password|without any password|no password is set/i.test(message)) return 'password';
  if (CUT.test(message)) return 'unreachable';
  if ($metadata?.httpStatusCode === 403 || $metadata?.httpStatusCode === 401) return 'denied';
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? 'other' : reasonOf(inner);
}
