import type { Failure } from '../../src-shared/contract/common.ts';
import type { Risk } from './devices-file.ts';

const AGAIN = 'Test it again in the settings, under Engine.';

const failed = (message: string, advice = AGAIN): Failure => ({ code: 'DEVICE_FAILED', message, advice });

/** A driver that gives other numbers than the processor; `what` came out otherwise. */
export function wrongFailure(device: string, what: string): Failure {
  return failed(
    `${device} computes something else than the processor (${what}), so the processor is used.`,
    "A newer version of the GPU's driver may help; then test it again in the settings.",
  );
}

export function noDeviceFailure(source: string): Failure {
  return failed(
    `${source} found no GPU that it can use, so the processor is used.`,
    "Install the GPU's driver, then test it again in the settings.",
  );
}

export function noSuchDeviceFailure(device: string): Failure {
  return failed(
    `There is no device called ${device} on this machine now, so the processor is used.`,
    'Choose another device in the settings, or run `npm run setup` with the flag of its pack.',
  );
}

/** What a start says of what the last one did not survive. */
export function endedFailure({ source, device, model }: Risk): Failure {
  if (device !== null && model !== null)
    return failed(
      `Kvasir ended while it loaded ${model} on ${device} the last time, so the processor is used.`,
    );
  return failed(`Kvasir ended while it tried ${device ?? source} the last time, so the processor is used.`);
}

/** A model that the processor could load, and the device could not. */
export function notLoadedFailure(model: string, device: string, error: unknown): Failure {
  const why = error instanceof Error ? error.message : String(error);
  return failed(
    `${model} could not be loaded on ${device}, so the processor is used: ${why}`,
    'Free memory of the GPU, or choose a smaller model or the processor.',
  );
}
