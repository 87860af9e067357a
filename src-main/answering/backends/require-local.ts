import { whyNotBlended } from '../../../src-shared/blending.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { FusionModel } from '../../fusion/model.ts';
import { ServerModel } from '../../models/sources/servers/server-model.ts';
import type { NamedModel } from '../named-model.ts';

/** The model, if it runs here. MODEL_UNSUPPORTED. */
export function requireLocal({ name, model }: NamedModel): FusionModel {
  if (!(model instanceof ServerModel)) return model;
  throw new KvasirError('MODEL_UNSUPPORTED', whyNotBlended(name, 'remote'), 'Choose a model that blends.');
}
