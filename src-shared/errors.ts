/**
 * Every failure that a user can encounter has a code, one sentence with what happened and why, and advice on what to
 * do. There are three kinds of error: misuse of an API throws a TypeError that names the argument; the environment or
 * the user's data cause a KvasirError with a code from this list; a broken invariant throws a plain Error.
 */
export const ERROR_CODES = [
  // models
  'MODEL_NOT_FOUND', // the path does not exist or is not a file
  'MODEL_INVALID', // not a GGUF, truncated, or its header contradicts the file
  'MODEL_PART_MISSING', // a file of a split model is missing
  'MODEL_UNSUPPORTED', // a valid GGUF whose architecture or feature the engine does not implement
  'MODEL_TOO_LARGE', // does not fit the memory
  'MODEL_NUMBERS', // what it computed is no number: a damaged file, or an overflow
  'MODEL_CHANGED', // its file was written to or cut while it is in use
  'ADAPTER_INVALID', // not a LoRA adapter in a GGUF, truncated, or its two halves do not belong together
  'ADAPTER_MISMATCH', // an adapter that was made for another model
  'ADAPTER_UNSUPPORTED', // an adapter that changes what the engine does not change, or a model that takes none
  // chunk KV files and the store
  'CHUNK_CORRUPT', // a checksum or a size in a chunk file is wrong
  'CHUNK_UNREADABLE', // the system cannot read a chunk file now: its drive is gone or fails; the file may be intact
  'CHUNK_VERSION', // a chunk file was written by a newer format version
  'CHUNK_MISMATCH', // a chunk file belongs to another model, vocabulary or encoding prefix
  'SHARED_TIER_FAILED', // the shared cache could not be reached, answered too late or was cut
  'STORE_IN_USE', // another Kvasir holds the store
  'DATABASE_HELD', // another program holds a database for longer than Kvasir waits
  'STORE_VERSION', // the store's index was written by a newer version
  'STORE_READ_ONLY', // the folder cannot be written
  'STORE_CORRUPT', // the index database cannot be read
  'DISK_FULL',
  'CACHE_FULL', // the disk budget cannot hold the chunks to precompute
  'CACHE_FOLDER_UNLISTED', // the settings no longer name a folder with stored chunks
  'SHARING_FAILED', // the shared cache cannot be used as it is set: unknown host, wrong password, no such folder
  // model downloads
  'DOWNLOAD_FAILED', // the server could not be reached or answered with an error
  'CHECKSUM_MISMATCH', // a downloaded file does not match its checksum
  // the model hub
  'HUB_UNREACHABLE', // no connection to it, or it does not respond
  'HUB_TOKEN', // it requires a token, or refuses the given one
  'HUB_GATED', // the terms of a repository have to be accepted first
  'HUB_CHANGED', // a repository, revision or file no longer exists or has changed
  // remote models
  'REMOTE_UNREACHABLE', // there is no connection to it
  'REMOTE_CERTIFICATE', // its certificate is not trusted
  'REMOTE_KEY', // it requires a key or refuses the given one; or the stored key cannot be read
  'REMOTE_MODEL', // it does not have the model
  'REMOTE_BUSY', // it accepts no more requests for now
  'REMOTE_QUOTA', // the account there has used up its quota
  'REMOTE_FAILED', // it responded with a server error
  'REMOTE_SLOW', // timeout: it sent nothing for too long
  'REMOTE_CUT', // the connection ended in the middle of an answer
  'REMOTE_PROTOCOL', // its response does not match OpenAI's API
  // MCP servers whose tools conversations use
  'MCP_CONFIG', // mcp.json, or a text in its form, cannot be read
  'MCP_COMMAND', // the server's program cannot be started
  'MCP_EXITED', // the server's program ended
  'MCP_UNREACHABLE', // there is no connection to its address
  'MCP_SIGN_IN', // it refuses the request without a key or a sign-in
  'MCP_SLOW', // timeout
  'MCP_PROTOCOL', // it does not respond as MCP requires
  // web pages
  'PAGE_PRIVATE', // the address leads to this computer or a private network
  'PAGE_UNREACHABLE', // the server could not be reached, took too long or answered with an error
  'PAGE_UNSUPPORTED', // it is of a kind that Kvasir does not read
  // library and chat
  'LIBRARY_NOT_FOUND',
  'LIBRARY_EMPTY', // no readable document in the folder
  'DOCUMENT_TOO_LARGE',
  'DOCUMENT_ENCODING', // not valid UTF-8
  'DOCUMENT_UNREADABLE', // the operating system cannot read it, or its format is broken
  'DOCUMENT_ENCRYPTED', // needs a password or a certificate
  'DOCUMENT_NO_TEXT', // readable, but there is no text in it, e.g. scanned pages
  'DOCUMENT_UNSUPPORTED', // a format Kvasir does not read
  'DOCUMENT_TIMEOUT', // reading took longer than the limit
  'DOCUMENT_MEMORY', // reading needed more memory than the limit
  'DOCUMENT_WAITING', // the document that a question is most likely about was not read yet
  'DOCUMENTS_RECUT', // an update reads or cuts documents differently, so they are processed again
  'TABLE_QUERY', // a statement over tables that SQLite or Kvasir refuses
  'TABLE_TIMEOUT', // such a statement took too much time or memory
  'NO_MATCH', // no passage to answer from, and the model is not asked to guess
  'QUESTION_TOO_LONG', // the question alone exceeds the context
  'CONTEXT_OVERFLOW', // a prompt exceeds the context
  'BLENDING_RAISED', // answers in use changed too much by blending, so more is recomputed
  'BLENDING_STOPPED', // the same, so passages are no longer blended
  // general
  'UPDATE_READY', // a newer version was downloaded
  'BAD_ARGUMENT', // a command-line flag or setting is out of range
  'SETTING_ADJUSTED', // a value in the settings cannot be used here; another is used
  'SETTINGS_DAMAGED', // the settings file was repaired; the old one is kept beside it
  'NOT_FOUND', // an id that names nothing (any more)
  'CONFLICT', // not possible now, e.g. a second question while the first is being answered
  'BACKUP_INVALID', // a backup file that cannot be restored
  'CONNECTION_LOST', // the window lost its core
  'ABORTED', // the caller asked to stop
  'OUT_OF_MEMORY',
  'DEVICE_FAILED', // a GPU, its pack or its driver does not do here what it should, so the CPU is used
  'ENGINE_FAILED', // the native engine reported something none of the above names
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export class KvasirError extends Error {
  override readonly name = 'KvasirError';
  readonly code: ErrorCode;
  /** One sentence: what the user can do about it. May be empty. */
  readonly advice: string;

  constructor(code: ErrorCode, message: string, advice = '', options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = advice;
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && (ERROR_CODES as readonly string[]).includes(value);
}
