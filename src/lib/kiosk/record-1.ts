import { z } from 'zod';
import type { TabletRecord } from './record.ts';

/** The record as the first version of gw wrote it: without boot, reset mark and the steps that were read. */
const firstSchema = z.strictObject({
  schema: z.literal('gw/tablet/1'),
  address: z.strictObject({ host: z.string(), port: z.int() }),
  tablet: z
    .strictObject({
      model: z.string(),
      manufacturer: z.string(),
      serial: z.string().max(300),
      android: z.string(),
      sdk: z.int(),
    })
    .nullable(),
  bridge: z.strictObject({
    state: z.enum(['open', 'closed', 'not-proven']),
    at: z.iso.datetime(),
    why: z.string(),
    afterRestart: z.enum(['closed', 'open', 'not-checked']),
  }),
  setUp: z
    .strictObject({
      profile: z.string(),
      at: z.iso.datetime(),
      verdict: z.enum(['complete', 'not-checked', 'not-done']),
      open: z.array(z.string()).max(200),
    })
    .nullable(),
});

/**
 * A record of the first format in today's shape; undefined when it is none. Its set-up carries a doubt that never
 * goes away: a later difference was not stored then.
 */
export function parseFirstRecord(found: unknown): TabletRecord | undefined {
  const { success, data } = firstSchema.safeParse(found);
  if (!success) return undefined;
  const { address, tablet, bridge, setUp } = data;
  const seenAt = (at: string) => ({
    at,
    machine: { bootId: null, uptimeS: null },
    serial: tablet?.serial ?? null,
    bootId: null,
    androidId: null,
    mac: null,
  });
  const seen = seenAt(bridge.at);
  const { state, why, afterRestart } = bridge;
  return {
    schema: 'gw/tablet/2',
    address,
    tablet: tablet === null ? null : { ...tablet, bootId: null, androidId: null },
    bridge: {
      state,
      why,
      isOpenUnresolved: state === 'open',
      isWirelessOn: false,
      seen,
      afterRestart: { verdict: afterRestart, seen: afterRestart === 'not-checked' ? null : seen },
    },
    reading:
      setUp === null
        ? null
        : {
            by: 'setup',
            profile: { name: setUp.profile, sha256: null },
            verdict: setUp.verdict === 'complete' ? 'as-profile' : setUp.verdict,
            steps: setUp.open.map((title, index) => ({
              id: `open-${index + 1}`,
              title,
              state: 'not-checked' as const,
              expected: '',
              found: null,
            })),
            seen: seenAt(setUp.at),
            doubts: [{ id: 'older-format', seen: seenAt(setUp.at) }],
          },
  };
}
