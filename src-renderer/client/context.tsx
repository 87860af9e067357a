import { createContext, use, useEffect, useRef, useState, type ReactNode } from 'react';
import {
  QueryClient,
  QueryClientProvider,
  keepPreviousData,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { EventPayload, EventTopic } from '../../src-shared/contract/events.ts';
import type { Connection } from '../../src-shared/contract/bridge.ts';
import type { KvasirError } from '../../src-shared/errors.ts';
import type { CallArguments } from '../../src-shared/contract/client.ts';
import type { Client } from './client.ts';

const ClientContext = createContext<Client | null>(null);

export function useClient(): Client {
  const client = use(ClientContext);
  if (!client) throw new Error('useClient: there is no ClientProvider above');
  return client;
}

/** Prefixes of the query names that each event invalidates. */
const STALE: Partial<Record<EventTopic, readonly string[]>> = {
  'analysis.changed': ['analysis.list', 'analysis.get'],
  'chat.changed': ['chat.', 'projects.'],
  'library.changed': [
    'libraries.',
    'documents.',
    'cache.',
    'chat.suggestions',
    'search.',
    'analysis.plan',
    'chat.estimate',
  ],
  'models.changed': [
    ...[
      'models.',
      'libraries.',
      'cache.',
      'documents.chunks',
      'calibration.',
      'analysis.plan',
      'chat.estimate',
      'chat.takesTools',
    ],
  ],
  'models.download': ['models.downloads'],
  'hub.changed': ['hub.'],
  'devices.changed': ['devices.'],
  'cache.changed': ['cache.', 'documents.chunks', 'libraries.'],
  'sharing.changed': ['sharing.'],
  'settings.changed': [
    'settings.',
    'sharing.',
    'cache.stats',
    'calibration.',
    'analysis.plan',
    'chat.estimate',
  ],
  'calibration.changed': ['calibration.'],
  'tools.changed': ['tools.'],
  'watching.changed': ['watching.'],
  'backups.changed': ['app.backups', 'app.info'],
};

/** Events whose payload equals a procedure's result. It is cached for screens opened later, too. */
const FRESH: Partial<Record<EventTopic, ProcedureName>> = {
  'queue.status': 'queue.status',
  'models.found': 'models.found',
  'devices.offers': 'devices.offers',
};

export function ClientProvider({ client, children }: { client: Client; children: ReactNode }) {
  const [queries] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { retry: false, staleTime: Infinity, refetchOnWindowFocus: false } },
      }),
  );
  useEffect(() => {
    const invalidate = (prefixes: readonly string[]) =>
      void queries.invalidateQueries({
        predicate: ({ queryKey: [name] }) => prefixes.some((prefix) => String(name).startsWith(prefix)),
      });
    const ends = (Object.keys(STALE) as EventTopic[]).map((topic) =>
      client.on(topic, () => invalidate(STALE[topic] ?? [])),
    );
    for (const [topic, name] of Object.entries(FRESH) as [EventTopic, ProcedureName][])
      ends.push(client.on(topic, (payload) => queries.setQueryData([name, {}], payload)));
    // Events may have been missed while disconnected.
    let lost = false;
    const end = client.onConnection((connection) => {
      if (connection === 'open' && lost) void queries.invalidateQueries();
      lost = connection !== 'open';
    });
    return () => {
      for (const stop of ends) stop();
      end();
    };
  }, [client, queries]);
  return (
    <ClientContext value={client}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </ClientContext>
  );
}

/** Queries the core and caches the result until an event invalidates it. */
export function useCall<P extends ProcedureName>(
  name: P,
  input?: InputOf<P>,
  options: { enabled?: boolean; keepPrevious?: boolean } = {},
): UseQueryResult<OutputOf<P>, KvasirError> {
  const client = useClient();
  return useQuery<OutputOf<P>, KvasirError>({
    queryKey: [name, input ?? {}],
    queryFn: () => client.call(name, ...([input] as CallArguments<P>)),
    enabled: options.enabled ?? true,
    ...(options.keepPrevious && { placeholderData: keepPreviousData }),
  });
}

/** A call that changes something. */
export function useAction<P extends ProcedureName>(
  name: P,
): UseMutationResult<OutputOf<P>, KvasirError, InputOf<P>> {
  const client = useClient();
  return useMutation<OutputOf<P>, KvasirError, InputOf<P>>({
    mutationFn: (input) => client.call(name, ...([input] as CallArguments<P>)),
  });
}

/** Calls `listener` for each event of a topic while the component is mounted. */
export function useEvent<T extends EventTopic>(topic: T, listener: (payload: EventPayload<T>) => void): void {
  const client = useClient();
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  useEffect(() => client.on(topic, (payload) => latest.current(payload)), [client, topic]);
}

/** The newest payload of a topic since the component was mounted. */
export function useLatest<T extends EventTopic>(topic: T): EventPayload<T> | undefined {
  const [latest, setLatest] = useState<EventPayload<T>>();
  useEvent(topic, setLatest);
  return latest;
}

export function useConnection(): Connection {
  const client = useClient();
  const [connection, setConnection] = useState<Connection>('open');
  useEffect(() => client.onConnection(setConnection), [client]);
  return connection;
}
