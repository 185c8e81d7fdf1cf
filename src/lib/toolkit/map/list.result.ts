import { z } from 'zod';
import { mapAddressSchema, mapChassisSchema, mapFieldsSchema, mapItemSchema } from './contents/map.result.ts';

/** Shape of `gw map list --json`. */
export const mapListSchema = z.strictObject({
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  maps: z.array(mapItemSchema),
  current: z
    .strictObject({
      id: z.int().describe('-1 for a map that was set from data and is stored nowhere.'),
      uid: z.string().nullable(),
      name: z.string().nullable(),
      isStored: z.boolean().describe('It is one of the list, so that a backup can take it.'),
    })
    .nullable()
    .describe('The map in use; null when there is none.'),
  fields: mapFieldsSchema,
});
export type MapList = z.infer<typeof mapListSchema>;
