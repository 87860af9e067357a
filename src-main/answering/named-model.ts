import type { FusionModel } from '../fusion/model.ts';
import type { ServerModel } from '../models/sources/servers/server-model.ts';

/** A model that answers, here or on a server. */
export type AnsweringModel = FusionModel | ServerModel;

export interface NamedModel<M = AnsweringModel> {
  name: string;
  model: M;
}
