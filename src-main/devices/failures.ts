import type { Failure } from '../../src-shared/contract/common.ts';
import { Interrupted, Refused } from '../platform/download/request.ts';
import { failureOf } from '../platform/failure.ts';
import type { Risk } from './devices-file.ts';
import type { PackPin } from './packs/pins.ts';

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
    'Choose another device in the settings, or get its pack there, under Engine.',
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

/** A pack that could not be downloaded, checked or installed. */
export function notFetchedFailure({ title, name }: PackPin, release: string, error: unknown): Failure {
  const failure = failureOf(error);
  const message = `The ${title} pack could not be fetched: ${failure.message}`;
  if (error instanceof Interrupted)
    return {
      ...failure,
      message,
      advice: 'Check the connection, and the proxy where there is one; then try again.',
    };
  if (error instanceof Refused)
    return {
      ...failure,
      message,
      advice: `Check which registry npm is set to: it has to have ${name} ${release}. Then try again.`,
    };
  if (failure.code === 'CHECKSUM_MISMATCH')
    return {
      ...failure,
      message,
      advice: `It was thrown away. Try again; if that does not help, the registry has another ${name} than it should.`,
    };
  return { ...failure, message };
}

/** A pack whose release is not this program's: what it would be loaded beside is another ggml. */
export function otherReleaseFailure(pack: string, other: string, release: string): Failure {
  return failed(
    `${pack} was fetched for release ${other} of ggml's packages and this Kvasir has ${release}, so it was removed.`,
    'Get it again in the settings, under Engine.',
  );
}
