/** The process in which GPUs are tested, under Electron. */
import { listenToPort, sendByPort } from './port.ts';

sendByPort();
await import('../../devices/trial/worker.ts');
listenToPort();
