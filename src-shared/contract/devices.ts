import { z } from 'zod';
import { procedure } from './define.ts';
import { FailureSchema, NothingSchema } from './common.ts';

const DeviceSchema = z.object({
  /** As the settings name it. */
  name: z.string(),
  description: z.string(),
  kind: z.enum(['cpu', 'gpu', 'igpu', 'accel']),
  /** Bytes; 0 while it is not known. */
  memoryFree: z.number(),
  memoryTotal: z.number(),
  /** 'good': it computes what the processor does; 'off': it is not used, and `failure` says why; 'untested': that is not known yet. */
  state: z.enum(['good', 'off', 'untested']),
  failure: FailureSchema.nullable(),
  /** Of a short prompt to the demo model, there and on the processor at that time; null where it was not measured. */
  tokensPerSecond: z.number().nullable(),
  cpuTokensPerSecond: z.number().nullable(),
});

const DevicesSchema = z.object({
  devices: z.array(DeviceSchema),
  /** Libraries for GPUs that gave no device: not tested yet, or why not. */
  packs: z.array(z.object({ name: z.string(), failure: FailureSchema.nullable() })),
  /** What 'auto' takes, and why. */
  automatic: z.object({
    device: z.string(),
    why: z.enum(['no-gpu', 'untested', 'none-works', 'cpu-faster', 'fastest']),
  }),
  /** Something is tested, or will be once nobody waits for an answer. */
  testing: z.boolean(),
});

/** ggml's prebuilt libraries for GPUs, by what they compute with. */
const PackNameSchema = z.enum(['vulkan', 'cuda']);

const PackOfferSchema = z.object({
  pack: PackNameSchema,
  /** As people call it. */
  title: z.string(),
  /** To be downloaded; about so many before the server has said it. */
  bytes: z.number(),
  bytesDone: z.number(),
  /** Whether the driver that it needs was found. */
  driver: z.boolean(),
  /** Libraries that have to be on the machine beside it. */
  needs: z.array(z.string()),
  state: z.enum(['offered', 'fetching', 'unpacking', 'failed']),
  failure: FailureSchema.nullable(),
});

/** Packs that there are for this machine and that are not installed. */
export const PackOffersSchema = z.array(PackOfferSchema);

export const devicesContract = {
  'devices.get': procedure(NothingSchema, DevicesSchema),
  /** Tests every GPU again in the background; what is known of them holds until then. */
  'devices.test': procedure(NothingSchema, NothingSchema),
  'devices.offers': procedure(NothingSchema, PackOffersSchema),
  /** Begins to download, check and install a pack in the background; it is tested then as every pack is. NOT_FOUND. */
  'devices.fetchPack': procedure(z.object({ pack: PackNameSchema }), NothingSchema),
  /** Ends that, and deletes what has come of it. */
  'devices.cancelPack': procedure(z.object({ pack: PackNameSchema }), NothingSchema),
};

export type DeviceInfo = z.infer<typeof DeviceSchema>;
export type Devices = z.infer<typeof DevicesSchema>;
export type PackName = z.infer<typeof PackNameSchema>;
export type PackOffer = z.infer<typeof PackOfferSchema>;
export type AutomaticDevice = Devices['automatic'];
