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
  const current = () => models.active && registry.get(models.active.id);
  return events.on(({ topic, payload }) => {
    if (topic === 'queue.status') {
      const [row, speed] = [current(), payload.tokensPerSecond];
      if (row && differs(speed, row.tokensPerSecond)) registry.setSpeed(row.id, speed);
    }
    // A server's speed is recorded by the request.
    if (topic !== 'chat.done' || !payload.stats || payload.stats.server) return;
    const { answerTokens, tokensPerSecond: speed } = payload.stats;
    const row = answerTokens >= TELLING_TOKENS ? current() : undefined;
    if (row && differs(speed, row.writtenPerSecond)) registry.setWritingSpeed(row.id, speed);
  });
}

function differs(speed: number, known: number | null): boolean {
  return speed > 0 && Math.abs(speed / (known ?? Infinity) - 1) > 0.1;
}
