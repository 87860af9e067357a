/** The process in which model files are tested, under Electron. */
import { listenToPort, sendByPort } from './port.ts';

sendByPort();
await import('../../models/loader/trial/worker.ts');
listenToPort();
