import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, NothingSchema } from './common.ts';

const DeviceSchema = z.object({
  /** The name used in the settings. */
  name: z.string(),
  description: z.string(),
  kind: z.enum(['cpu', 'gpu', 'igpu', 'accel']),
  /** Bytes; 0 if unknown. */
  memoryFree: z.number(),
  memoryTotal: z.number(),
  /** 'good': its results match the CPU's; 'off': not used, for the reason in `failure`; 'untested': unknown. */
  state: z.enum(['good', 'off', 'untested']),
  failure: FailureSchema.nullable(),
  /** Throughput of a short prompt to the demo model, on the device and on the CPU; null if not measured. */
  tokensPerSecond: z.number().nullable(),
  cpuTokensPerSecond: z.number().nullable(),
});

const DevicesSchema = z.object({
  devices: z.array(DeviceSchema),
  /** GPU packs without a device: not tested yet, or failed. */
  packs: z.array(z.object({ name: z.string(), failure: FailureSchema.nullable() })),
  /** The device that 'auto' selects, and the reason. */
  automatic: z.object({
    device: z.string(),
    why: z.enum(['no-gpu', 'untested', 'none-works', 'cpu-faster', 'fastest']),
  }),
  /** A test is running, or will run once nobody is waiting for an answer. */
  testing: z.boolean(),
});

/** ggml's prebuilt GPU libraries, by their API. */
const PackNameSchema = z.enum(['vulkan', 'cuda']);

const PackOfferSchema = z.object({
  pack: PackNameSchema,
  /** Display name. */
  title: z.string(),
  /** Download size; approximate until the server has sent it. */
  bytes: z.number(),
  bytesDone: z.number(),
  /** Whether the driver that it needs was found. */
  driver: z.boolean(),
  /** Libraries that it requires in addition. */
  needs: z.array(z.string()),
  state: z.enum(['offered', 'fetching', 'unpacking', 'failed']),
  failure: FailureSchema.nullable(),
});

/** Packs that are available for this machine and not installed. */
export const PackOffersSchema = z.array(PackOfferSchema);

export const devicesContract = {
  'devices.get': procedure(NothingSchema, DevicesSchema),
  /** Tests every GPU again in the background; earlier results apply until then. */
  'devices.test': procedure(NothingSchema, NothingSchema),
  'devices.offers': procedure(NothingSchema, PackOffersSchema),
  /**
   * Starts downloading, verifying and installing a pack in the background; it is then tested like every pack.
   * NOT_FOUND.
   */
  'devices.fetchPack': procedure(z.object({ pack: PackNameSchema }), NothingSchema),
  /** Cancels the download and deletes the partial file. */
  'devices.cancelPack': procedure(z.object({ pack: PackNameSchema }), NothingSchema),
};

export type DeviceInfo = z.infer<typeof DeviceSchema>;
export type Devices = z.infer<typeof DevicesSchema>;
export type PackName = z.infer<typeof PackNameSchema>;
export type PackOffer = z.infer<typeof PackOfferSchema>;
export type AutomaticDevice = Devices['automatic'];
