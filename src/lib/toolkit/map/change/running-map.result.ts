import { z } from 'zod';
import { overlaysDifferenceSchema } from './overlays-difference.result.ts';

/** Comparison of the running map with the stored one. */
export const runningMapSchema = z.strictObject({
  verdict: z
    .enum(['equal', 'differs', 'another-map', 'none-in-use', 'not-checked'])
    .describe(
      'equal: /map/info announces the overlays stored for the current map. differs: it announces others. another-map: it announces another map than the current one. not-checked: not decidable from what was received.',
    ),
  detail: z.string().describe('Reason of the verdict, as a clause.'),
  mapId: z.int().nullable().describe('The current map; null without one or it is unknown.'),
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
    .describe('The message of /map/info without its overlays; null when none was received.'),
  difference: overlaysDifferenceSchema
    .nullable()
    .describe('From the stored to the announced overlays; null when not compared.'),
  notes: z.array(z.string()).describe('Differences that do not concern the overlays.'),
});
export type RunningMapView = z.infer<typeof runningMapSchema>;
