import { whyNotBlended } from '../../../src-shared/blending.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { FusionModel } from '../../fusion/model.ts';
import { ServerModel } from '../../models/sources/servers/server-model.ts';
import type { NamedModel } from '../named-model.ts';
import type { Backend } from './backend.ts';
import { LocalBackend } from './local.ts';
import { RemoteBackend } from './remote.ts';

/** The way to make answers with a model. */
export function backendOf(model: NamedModel['model']): Backend {
  return model instanceof ServerModel ? new RemoteBackend(model) : new LocalBackend(model);
}

/** The model, if it runs here. MODEL_UNSUPPORTED. */
export function requireLocal({ name, model }: NamedModel): FusionModel {
  if (!(model instanceof ServerModel)) return model;
  throw new KvasirError('MODEL_UNSUPPORTED', whyNotBlended(name, 'remote'), 'Choose a model that blends.');
}
