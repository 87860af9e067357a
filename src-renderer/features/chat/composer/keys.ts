import type { KeyboardEvent } from 'react';

/** Whether a key belongs to an input method, e.g. the Enter that commits Chinese characters. Safari only reports this by key code. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else tells it in Safari
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
