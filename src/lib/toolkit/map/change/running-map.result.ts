import { z } from 'zod';
import { overlaysDifferenceSchema } from './overlays-difference.result.ts';

/** The map that the robot drives by, beside what is stored for it. */
export const runningMapSchema = z.strictObject({
  verdict: z
    .enum(['equal', 'differs', 'another-map', 'none-in-use', 'not-checked'])
    .describe(
      'equal: /map/info announces the overlays that are stored for the current map. differs: it announces others. another-map: it announces another map than the current one. not-checked: nothing was received that answers it.',
    ),
  detail: z.string().describe('Why, in one clause.'),
  mapId: z.int().nullable().describe('The current map; null when none is in use, or when it is not known.'),
  uid: z.string().nullable(),
  name: z.string().nullable(),
  announced: z
    .strictObject({
      name: z.string(),
      uid: z.string(),
      mapVersion: z.int().nullable(),
      overlaysVersion: z.int().nullable(),
    })
    .nullable()
    .describe('What /map/info says of the map, without its overlays; null when nothing was received.'),
  difference: overlaysDifferenceSchema
    .nullable()
    .describe('From what is stored to what is announced; null when the two were not compared.'),
  notes: z.array(z.string()).describe('What differs and says nothing about the overlays.'),
});
export type RunningMapView = z.infer<typeof runningMapSchema>;
