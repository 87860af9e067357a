/** The only two channels between a window and the core: calls to the core, events back. */
export const CALL_CHANNEL = 'kvasir:call';
export const EVENT_CHANNEL = 'kvasir:event';
