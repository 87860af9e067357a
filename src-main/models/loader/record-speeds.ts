import type { EventBus } from '../../platform/event-bus.ts';
import type { ModelSource } from '../active-model.ts';
import type { ModelRegistry } from '../registry/model-registry.ts';

/** A shorter answer is too short to measure decode speed. */
const TELLING_TOKENS = 16;

/**
 * Records the current model's prefill and decode speed, in tokens per second, for estimates; written if it changed by
 * more than a tenth. Returns a function that ends this.
 */
export function recordSpeeds(
  models: Pick<ModelSource, 'active'>,
  registry: ModelRegistry,
  events: EventBus,
): () => void {
  const record = (speed: number, column: 'tokensPerSecond' | 'writtenPerSecond'): void => {
    const row = models.active && registry.get(models.active.id);
    if (row && speed > 0 && Math.abs(speed / (row[column] ?? Infinity) - 1) > 0.1)
      registry.setSpeed(row.id, column, speed);
  };
  return events.on(({ topic, payload }) => {
    if (topic === 'queue.status') record(payload.tokensPerSecond, 'tokensPerSecond');
    // A server's speed is recorded by the request.
    if (topic !== 'chat.done' || !payload.stats || payload.stats.server) return;
    const { answerTokens, tokensPerSecond } = payload.stats;
    if (answerTokens >= TELLING_TOKENS) record(tokensPerSecond, 'writtenPerSecond');
  });
}
