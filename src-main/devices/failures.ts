import type { Failure } from '../../src-shared/contract/common.ts';
import { TransientDownloadError, PermanentDownloadError } from '../platform/download/request.ts';
import { failureOf } from '../platform/failure.ts';
import type { Risk } from './devices-file.ts';
import type { PackPin } from './packs/pins.ts';

const AGAIN = 'Test it again in the settings, under Engine.';

const failed = (message: string, advice = AGAIN): Failure => ({ code: 'DEVICE_FAILED', message, advice });

/** A driver whose results differ from the CPU's; `what` names the computation that differs. */
export function wrongFailure(device: string, what: string): Failure {
  return failed(
    `The results of ${device} differ from the CPU's (${what}), so the CPU is used.`,
    "A newer version of the GPU's driver may help; then test it again in the settings.",
  );
}

export function noDeviceFailure(source: string): Failure {
  return failed(
    `${source} found no usable GPU, so the CPU is used.`,
    "Install the GPU's driver, then test it again in the settings.",
  );
}

export function noSuchDeviceFailure(device: string): Failure {
  return failed(
    `Device ${device} not found, so the CPU is used.`,
    'Choose another device in the settings, or download its pack there, under Engine.',
  );
}

/** The notice at start about work that ended the last run. */
export function endedFailure({ source, device, model }: Risk): Failure {
  if (device !== null && model !== null)
    return failed(`Kvasir crashed while loading ${model} on ${device}, so the CPU is used.`);
  return failed(`Kvasir crashed while testing ${device ?? source}, so the CPU is used.`);
}

/** A model that loads on the CPU but not on the device. */
export function notLoadedFailure(model: string, device: string, error: unknown): Failure {
  const why = error instanceof Error ? error.message : String(error);
  return failed(
    `${model} could not be loaded on ${device}, so the CPU is used: ${why}`,
    'Free GPU memory, or choose a smaller model or the CPU.',
  );
}

/** A pack that could not be downloaded, verified or installed. */
export function notFetchedFailure({ title, name }: PackPin, release: string, error: unknown): Failure {
  const failure = failureOf(error);
  const message = `The ${title} pack could not be downloaded: ${failure.message}`;
  if (error instanceof TransientDownloadError)
    return {
      ...failure,
      message,
      advice: 'Check the connection and any proxy, then try again.',
    };
  if (error instanceof PermanentDownloadError)
    return {
      ...failure,
      message,
      advice: `Check npm's registry setting: the registry must have ${name} ${release}. Then try again.`,
    };
  if (failure.code === 'CHECKSUM_MISMATCH')
    return {
      ...failure,
      message,
      advice: `The download was deleted. Try again; if that does not help, the registry has the wrong ${name}.`,
    };
  return { ...failure, message };
}

/** A pack of another release: it was built for another version of ggml. */
export function otherReleaseFailure(pack: string, other: string, release: string): Failure {
  return failed(
    `${pack} was removed: it is for release ${other} of ggml's packages, and Kvasir needs ${release}.`,
    'Download it again in the settings, under Engine.',
  );
}
