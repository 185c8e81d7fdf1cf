import { z } from 'zod';

const column = <T extends z.ZodType>(value: T, meaning: string) => z.array(value.nullable()).describe(meaning);

/** The last hour for the charts of the technician page, oldest first; null where nothing was known. Sent by `GET /api/verlauf`. */
export const lastHourSchema = z.strictObject({
  sampleMs: z.int().positive().describe('Between two samples, by the monotonic clock.'),
  ageMs: z.number().nonnegative().describe('Of the newest sample.'),
  batteryPercent: column(z.number(), '0 to 100; null also while its scale is not decided.'),
  poseAgeMs: column(z.number().nonnegative(), 'Since the newest pose arrived on this connection; null without a link.'),
  speedMS: column(
    z.number().nonnegative(),
    'Metres per second, measured from poses; 0 where they show that it stands. Wheel speeds are not received.',
  ),
  roundTripMs: column(
    z.number().nonnegative(),
    'From a ping of the topic stream to its pong, as gw reads it; the newest one.',
  ),
  connected: column(z.boolean(), 'false: not connected at the sample, or at some time since the one before.'),
});
export type LastHour = z.infer<typeof lastHourSchema>;
