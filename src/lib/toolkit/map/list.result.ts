import { z } from 'zod';
import { mapAddressSchema, mapChassisSchema, mapFieldsSchema, mapItemSchema } from './contents/map.result.ts';

/** Shape of `gw map list --json`. */
export const mapListSchema = z.strictObject({
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  maps: z.array(mapItemSchema),
  current: z
    .strictObject({
      id: z.int().describe('-1: set from data, not stored.'),
      uid: z.string().nullable(),
      name: z.string().nullable(),
      isStored: z.boolean().describe('Whether it is in the list, so that a backup contains it.'),
    })
    .nullable()
    .describe('The current map; null without one.'),
  fields: mapFieldsSchema,
});
export type MapList = z.infer<typeof mapListSchema>;
