import { z } from 'zod';
import { ConversationOptionsSchema } from './chat.ts';
import { IdSchema, NothingSchema } from './common.ts';
import { procedure } from './define.ts';

const ProjectFieldsSchema = z.object({
  name: z.string().trim().min(1).max(200),
  /** Added to the system prompt of its conversations. */
  instructions: z.string().trim().max(16_384).default(''),
  /** The model that its conversations want; null: any. */
  modelId: IdSchema.nullable().default(null),
  /** Scope and options that its new conversations start with. */
  options: ConversationOptionsSchema.prefault({}),
});

const ProjectSchema = z.object({
  id: IdSchema,
  ...ProjectFieldsSchema.shape,
});

export const projectsContract = {
  /** By name. */
  'projects.list': procedure(NothingSchema, z.array(ProjectSchema)),
  'projects.create': procedure(ProjectFieldsSchema, ProjectSchema),
  /** Replaces every field. Its conversations keep their options; instructions apply from their next question on. */
  'projects.change': procedure(ProjectSchema, ProjectSchema),
  /** Its conversations stay, without a project. */
  'projects.delete': procedure(z.object({ id: IdSchema }), NothingSchema),
};

export type ProjectFields = z.output<typeof ProjectFieldsSchema>;
export type Project = z.output<typeof ProjectSchema>;
