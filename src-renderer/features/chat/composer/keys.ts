import type { KeyboardEvent } from 'react';

/** Whether a key belongs to an input method, e.g. the Enter that takes over Chinese characters. Safari only tells by the code. */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else tells it in Safari
  return nativeEvent.isComposing || nativeEvent.keyCode === 229;
}
