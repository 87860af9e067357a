/** The process in which statements run over tables, under Electron. */
import { listenToPort, sendByPort } from './port.ts';

process.argv[2] = process.argv.at(-1) ?? '';
sendByPort();
await import('../../library/tables/worker.ts');
listenToPort();
