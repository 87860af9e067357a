import { z } from 'zod';

export const MANIFEST_NAME = 'manifest.json';

/** docs/formats/cache-export.md */
export const ManifestSchema = z.object({
  kind: z.literal('kvasir-cache'),
  version: z.literal(1),
  chunks: z
    .array(
      z.object({
        key: z.string().regex(/^[0-9a-f]{64}$/),
        formatVersion: z.int().min(1).max(999_999),
        bytes: z.int().min(1),
        label: z.string().max(4096),
      }),
    )
    .max(1_000_000),
});

export type Manifest = z.infer<typeof ManifestSchema>;
export type ManifestChunk = Manifest['chunks'][number];

export function entryName({ key, formatVersion }: Pick<ManifestChunk, 'key' | 'formatVersion'>): string {
  return `${key}.v${formatVersion}.kvc`;
}
