import { z } from 'zod';

/**
 * Number formats of stored chunks, from exact to smallest (docs/formats/chunk-kv.md). k8v4: keys in 8 bits, values in 4. q4: both in 4. A
 * packed format is used only with models whose calibration it passed (decision 0287).
 */
export const KV_DTYPES = ['f16', 'q8_0', 'k8v4', 'q4'] as const;
export const KvDtypeSchema = z.enum(KV_DTYPES);
export type KvDtype = (typeof KV_DTYPES)[number];

/** Formats of a session's KV: those that kernels compute with. */
export const SessionDtypeSchema = KvDtypeSchema.extract(['f16', 'q8_0']);
export type SessionDtype = z.infer<typeof SessionDtypeSchema>;

/** Formats that have to be measured with a model before they are used. */
const PACKED_DTYPES = ['k8v4', 'q4'] as const satisfies readonly KvDtype[];

export function isPacked(dtype: KvDtype): boolean {
  return PACKED_DTYPES.some((packed) => packed === dtype);
}

/** Bytes per value; for packed formats, whose first 32 tokens are in q8_0, in chunks of 512 tokens. */
const BYTES: Readonly<Record<KvDtype, number>> = { f16: 2, q8_0: 34 / 32, k8v4: 26.5 / 32, q4: 19 / 32 };

/** Bytes of KV for this many values of keys and values together. */
export function kvBytes(values: number, dtype: KvDtype): number {
  return values * BYTES[dtype];
}
