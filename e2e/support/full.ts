/** Whether tests run in full (`npm run test:full`), not in the short form that `npm test` has time for. */
export const FULL = process.env['KVASIR_FULL'] === '1';
