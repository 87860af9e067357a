import { create } from 'zustand';
import type { Client } from '../client/client.ts';
import { shownFailure, type ShownFailure } from '../i18n/failures.ts';
import type { FoundFile } from './dropped-files.ts';

export interface UploadBatch {
  id: number;
  libraryName: string;
  /** Folders are still being scanned; `total` grows. */
  counting: boolean;
  total: number;
  /** Finished files, including failed ones. */
  done: number;
  failed: readonly { path: string; failure: ShownFailure }[];
  /** Ids of the documents that arrived. */
  documentIds: readonly string[];
  state: 'running' | 'finished' | 'cancelled';
}

interface UploadState {
  batches: readonly UploadBatch[];
  cancel: (id: number) => void;
  dismiss: (id: number) => void;
}

/** Uploads continue while other screens are shown, so their state lives outside them. */
export const useUploads = create<UploadState>((set) => ({
  batches: [],
  cancel: (id) => aborts.get(id)?.abort(),
  dismiss: (id) => set(({ batches }) => ({ batches: batches.filter((batch) => batch.id !== id) })),
}));

const aborts = new Map<number, AbortController>();
let lastId = 0;

/** Concurrent uploads: enough to keep the core's parsers busy. */
const PARALLEL = 4;
/** Throttles updates: thousands of small files must not render the page thousands of times. */
const TELL_MS = 150;
/** How long a successful batch stays on screen, in milliseconds. */
const SHOWN_MS = 8000;

interface UploadJob {
  client: Client;
  library: { id: string; name: string };
  files: AsyncIterable<FoundFile> | Iterable<FoundFile>;
  /** Larger files are rejected with a message instead of being uploaded in vain. */
  maxBytes: number;
  tooLarge: string;
}

/** Uploads files to the core, a few at a time. Resolves when all have arrived or failed, or on cancel. */
export async function upload({
  client,
  library,
  files,
  maxBytes,
  tooLarge,
}: UploadJob): Promise<UploadBatch> {
  const abort = new AbortController();
  const batch = startBatch(library.name, abort);
  const failures: UploadBatch['failed'][number][] = [];
  const send = async ({ path, open }: FoundFile): Promise<void> => {
    try {
      const file = await open();
      if (file.size > maxBytes) throw new Error(tooLarge); // No code: the message is already in the window's language.
      const target = { libraryId: library.id, path };
      const { documentId } = await client.upload(file, { target, signal: abort.signal });
      if (documentId !== undefined) batch.tell({ documentIds: [...batch.now().documentIds, documentId] });
    } catch (error) {
      if (abort.signal.aborted) return;
      failures.push({ path, failure: shownFailure(error) });
      batch.tell({ failed: [...failures] });
    }
    batch.tell({ done: batch.now().done + 1 });
  };
  const found: FoundFile[] = [];
  for await (const file of files) {
    if (abort.signal.aborted) break;
    found.push(file);
    batch.tell({ total: found.length });
  }
  batch.tell({ counting: false });
  const waiting = found.values();
  const work = async (): Promise<void> => {
    for (const file of waiting) {
      if (abort.signal.aborted) return;
      await send(file);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  batch.tell({ state: abort.signal.aborted ? 'cancelled' : 'finished' });
  return batch.end();
}

/** A batch that collects many changes and publishes them a few times per second. */
function startBatch(libraryName: string, abort: AbortController) {
  const id = ++lastId;
  let now: UploadBatch = {
    id,
    libraryName,
    counting: true,
    total: 0,
    done: 0,
    failed: [],
    documentIds: [],
    state: 'running',
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (): void => {
    clearTimeout(timer);
    timer = undefined;
    useUploads.setState(({ batches }) => ({
      batches: batches.map((batch) => (batch.id === id ? now : batch)),
    }));
  };
  aborts.set(id, abort);
  useUploads.setState(({ batches }) => ({ batches: [...batches, now] }));
  return {
    now: () => now,
    tell: (changes: Partial<UploadBatch>): void => {
      now = { ...now, ...changes };
      timer ??= setTimeout(show, TELL_MS);
    },
    end: (): UploadBatch => {
      show();
      aborts.delete(id);
      const { dismiss } = useUploads.getState();
      if (now.state === 'finished' && now.failed.length === 0) setTimeout(() => dismiss(id), SHOWN_MS);
      return now;
    },
  };
}
