import { ownValue } from '../../src-shared/own-value.ts';
import type { Failure } from '../../src-shared/contract/common.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';

/** Reasons for failures of a shared cache. */
export type Reason = keyof typeof SENTENCES;

/** Message and advice for each reason. `where` is the folder, the server or the bucket. */
const SENTENCES = {
  unknownHost: ['Host {where} not found.', 'Check the address.'],
  unreachable: [
    '{where} cannot be reached: the connection was refused or lost.',
    'Check that the server is running, and its host and port.',
  ],
  timeout: ['The request to {where} timed out.', 'Check whether the server or the network is overloaded.'],
  certificate: [
    'The certificate of {where} is not trusted.',
    'Set the file of the authority that issued it, and use the certificate’s host name.',
  ],
  noTls: ['{where} does not speak TLS.', 'Turn off TLS, or use the TLS port.'],
  password: ['{where} refused the password or the access key.', 'Enter them again.'],
  denied: ['{where} denied permission to the user.', 'Ask its administrator for read and write permission.'],
  noBucket: ['Bucket not found: {where}.', 'Check its name, or create it.'],
  noFolder: ['Folder not found: {where}.', 'Check that the network drive is connected, and the path.'],
  readOnly: ['{where} is read-only.', 'Ask for write permission, or turn on "Read only".'],
  full: ['{where} is full.', 'Free some space there, or set a size limit.'],
  noKey: [
    'A secret for {where} cannot be read: the keyring it was encrypted with is not available.',
    'Enter it again.',
  ],
  keyMissing: [
    'Values in {where} must be encrypted, but the key is not on this machine, so nothing is shared.',
    'Enter the team’s key, or remove it to share without encryption.',
  ],
  secrets: [
    'The secrets file of the shared cache cannot be read, so nothing is shared.',
    'Enter the secrets again; the file is then set aside.',
  ],
  damaged: ['{where} returned a damaged value; it is not used.', ''],
  gone: ['A value is no longer in {where}.', ''],
  noAuthorities: [
    'The file of trusted certificates cannot be read.',
    'Check its path in the settings; it must contain PEM certificates.',
  ],
  incomplete: ['The shared cache is not set up completely.', 'Fill in what is missing in the settings.'],
  other: ['{where} failed.', ''],
} as const satisfies Record<string, readonly [string, string]>;

export const DAMAGED = 'A value does not match its checksum.';

/** A failure whose reason is known where it happens. */
export class SharingError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Reasons that concern one value or one write only. */
const OF_ONE: readonly Reason[] = ['damaged', 'gone', 'full', 'readOnly'];

/** Whether other calls are expected to fail as well for a while. */
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

/** The rejection of calls to the shared tier: to the caller, the value did not arrive. */
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

/** The first word of a Redis error reply. */
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

/** Searches the causes: the original error is often wrapped. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof SharingError) return error.reason;
  if (!(error instanceof Error)) return 'other';
  const {
    code = '',
    name,
    message,
    $metadata,
  } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } };
  const known =
    ownValue(BY_CODE, code) ?? ownValue(BY_CODE, name) ?? ownValue(BY_WORD, message.split(' ')[0] ?? '');
  if (known) return known;
  if (CERTIFICATE.test(code)) return 'certificate';
  if (/^(EPROTO|ERR_SSL)/.test(code)) return 'noTls';
  if (/invalid password|without any password|no password is set/i.test(message)) return 'password';
  if (CUT.test(message)) return 'unreachable';
  if ($metadata?.httpStatusCode === 403 || $metadata?.httpStatusCode === 401) return 'denied';
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? 'other' : reasonOf(inner);
}
