import { z } from 'zod';
import { standingSchema } from '../../known.result.ts';

/** What the results about maps have in common. */

export const mapAddressSchema = z.strictObject({ host: z.string(), port: z.int(), way: z.string() });

export const mapChassisSchema = z.strictObject({
  serial: z.string(),
  software: z.string().nullable(),
  model: z.string().nullable(),
});

export const mapItemSchema = z.strictObject({
  id: z.int().describe('Number on the chassis.'),
  uid: z.string().nullable(),
  name: z.string(),
  mapVersion: z.int().nullable(),
  overlaysVersion: z.int().nullable().describe('Whether a write raises it is not known.'),
  isCurrent: z.boolean().describe('It is the map in use.'),
});

export const mapFieldsSchema = z
  .record(z.string(), standingSchema)
  .describe('How well each field is known, by its name.');

export const mapMissingSchema = z.array(
  z.strictObject({
    what: z.enum(['image', 'localisation']),
    why: z.string().describe('What the chassis said, or what was wrong with what it gave.'),
  }),
);

export const mapOverlaysSchema = z.strictObject({
  form: z.enum(['text', 'object', 'none']).describe('How the map carries its overlays.'),
  bytes: z.int(),
  count: z
    .strictObject({ point: z.int(), lane: z.int(), zone: z.int(), other: z.int() })
    .nullable()
    .describe('null when the overlays cannot be read.'),
  problem: z.string().nullable().describe('Why they cannot be read.'),
});
export type MapOverlays = z.infer<typeof mapOverlaysSchema>;
