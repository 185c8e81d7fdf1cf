import { z } from 'zod';
import { evidenceSchema } from '../../known.result.ts';

/** Shared schemas of the map results. */

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
  overlaysVersion: z.int().nullable().describe('Whether a write increases it is unknown.'),
  isCurrent: z.boolean().describe('Whether it is the current map.'),
});

export const mapFieldsSchema = z.record(z.string(), evidenceSchema).describe('Evidence marks by field name.');

export const mapMissingSchema = z.array(
  z.strictObject({
    what: z.enum(['image', 'localisation']),
    why: z.string().describe('Error of the chassis, or problem of the received data.'),
  }),
);

export const mapOverlaysSchema = z.strictObject({
  form: z.enum(['text', 'object', 'none']).describe('JSON form of the overlays in the map.'),
  bytes: z.int(),
  count: z
    .strictObject({ point: z.int(), lane: z.int(), zone: z.int(), other: z.int() })
    .nullable()
    .describe('null when the overlays are not readable.'),
  problem: z.string().nullable().describe('Why they are not readable.'),
});
export type MapOverlays = z.infer<typeof mapOverlaysSchema>;
