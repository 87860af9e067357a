/** A model on a server that answers without a network. */
import type { RemotePiece, RemoteRequest } from '../models/sources/servers/client.ts';
import { ServerModel } from '../models/sources/servers/server-model.ts';

interface ServerModelOptions {
  separator?: string | undefined;
  contextTokens?: number | null | undefined;
  /** The pieces of every answer, without its end. */
  says?: readonly RemotePiece[] | undefined;
  onRequest?: (request: RemoteRequest) => void;
}

const USAGE = { promptTokens: 70, cachedTokens: 30, answerTokens: 5 };

export function serverModel({
  separator = '',
  contextTokens = null,
  says = [{ kind: 'text', text: 'She lives in Oslo.' }],
  onRequest = () => undefined,
}: ServerModelOptions = {}): ServerModel {
  const server = {
    address: 'http://there.invalid/v1',
    model: 'big',
    separator,
    contextTokens,
    waitSeconds: 1,
  };
  return new ServerModel(
    server,
    { key: () => Promise.resolve('') },
    {
      async *complete(_server, request) {
        onRequest(request);
        yield* says;
        yield { kind: 'end', reason: 'stop', usage: USAGE };
      },
    },
  );
}
