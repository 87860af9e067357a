/** The times of a layer, in milliseconds. */
export interface LayerTimes {
  /** Loading its stored KV. */
  load: number;
  /** Rotating it to its positions. */
  place: number;
  /** Before any other layer's computation: the question's separate pass, which needs this layer's KV already. */
  look: number;
  compute: number;
}

/**
 * Milliseconds of waiting for bytes when a loader works one layer ahead of computing, as native/engine/chunks/layer_loader.h: the first two layers
 * from the start on, each further one when the previous one is taken. `first` is the first layer that is loaded. `streamed`: the time per
 * layer of values that arrive whole, starting with their first layer, independently of computing.
 */
export function waitingFor(layers: readonly LayerTimes[], first: number, streamed = 0): number {
  let [now, waited] = [0, 0];
  let loaded = 0; // when the loader has finished its current layer
  const arrives = layers.map(() => 0);
  const load = (layer: number, from: number): void => {
    loaded = Math.max(loaded, from) + (layers[layer]?.load ?? 0);
    arrives[layer] = loaded;
  };
  const take = (layer: number): void => {
    if (layer > first) load(layer + 1, now);
    const ready = Math.max(now, arrives[layer] ?? 0, (layer + 1) * streamed);
    waited += ready - now;
    now = ready + (layers[layer]?.place ?? 0);
  };
  load(first, 0);
  load(first + 1, 0);
  const looked = layers.findLastIndex(({ look }) => look > 0);
  for (const [layer, { look }] of layers.slice(0, looked + 1).entries()) {
    if (layer >= first) take(layer);
    now += look;
  }
  for (const [layer, { compute }] of layers.entries()) {
    if (layer >= first && layer > looked) take(layer);
    now += compute;
  }
  return waited;
}
