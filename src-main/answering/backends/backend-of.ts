import { ServerModel } from '../../models/sources/servers/server-model.ts';
import type { NamedModel } from '../named-model.ts';
import type { Backend } from './backend.ts';
import { LocalBackend } from './local.ts';
import { RemoteBackend } from './remote.ts';

/** The way to make answers with a model. */
export function backendOf(model: NamedModel['model']): Backend {
  return model instanceof ServerModel ? new RemoteBackend(model) : new LocalBackend(model);
}
