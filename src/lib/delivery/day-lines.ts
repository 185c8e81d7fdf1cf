import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';
import { type ListedDelivery, listedDeliverySchema } from '../pages/index.ts';
import { titleOf } from '../site/index.ts';

/** Lines of the files, and the list that is made of them. */

const { kind, title, by } = listedDeliverySchema.shape;

const about = {
  format: z.literal('gw/delivery/1'),
  serial: z.string(),
  id: z.string().min(1).max(200),
  at: z.iso.datetime(),
  timeZone: z.string().max(100),
};

export const dayLineSchema = z.discriminatedUnion('what', [
  z.strictObject({ ...about, what: z.literal('begun'), kind, name: z.string().max(200).nullable(), title, by }),
  z.strictObject({
    ...about,
    what: z.literal('ended'),
    result: z.enum(['succeeded', 'failed', 'stopped']),
    reason: z.string().max(300).nullable(),
  }),
]);
export type DayLine = DeepReadonly<z.infer<typeof dayLineSchema>>;

/** One entry for each run that has begun, the newest first. */
export function listOf(lines: readonly DayLine[], isOpen: (id: string) => boolean): readonly ListedDelivery[] {
  const found = new Map<string, ListedDelivery>();
  for (const line of lines) {
    const begun = found.get(line.id);
    if (line.what === 'begun') {
      const { id, kind, name, title, by, at: begunAt, timeZone } = line;
      const goal = { kind, name, ...titleOf({ title }) };
      const result = isOpen(id) ? 'running' : 'not-known';
      if (begun === undefined)
        found.set(id, { id, ...goal, by, begunAt, endedAt: null, timeZone, result, reason: null });
    } else if (begun !== undefined) {
      found.set(line.id, { ...begun, endedAt: line.at, result: line.result, reason: line.reason });
    }
  }
  return [...found.values()].toReversed();
}
