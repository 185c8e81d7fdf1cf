import { z } from 'zod';
import {
  mapAddressSchema,
  mapChassisSchema,
  mapFieldsSchema,
  mapItemSchema,
  mapMissingSchema,
  mapOverlaysSchema,
} from './contents/map.result.ts';

const content = { bytes: z.int(), sha256: z.string() };

/** Shape of `gw map show --json`. */
export const mapShowSchema = z.strictObject({
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  map: mapItemSchema,
  data: z.strictObject(content).describe('GET /maps/<id>, byte for byte.'),
  frame: z
    .strictObject({
      originXM: z.number().describe('Position of the lower left pixel.'),
      originYM: z.number(),
      resolutionM: z.number().describe('Metres per pixel.'),
      widthM: z.number().nullable().describe('null without a picture.'),
      heightM: z.number().nullable(),
    })
    .nullable()
    .describe('null when the map has no valid grid.'),
  picture: z
    .strictObject({ ...content, width: z.int(), height: z.int() })
    .nullable()
    .describe('Size in pixels; null without a valid picture: see missing.'),
  localisation: z.strictObject(content).nullable().describe('Opaque data of the chassis.'),
  overlays: mapOverlaysSchema,
  missing: mapMissingSchema.describe('Files that a backup of this map would lack.'),
  fields: mapFieldsSchema,
});
export type MapShow = z.infer<typeof mapShowSchema>;
