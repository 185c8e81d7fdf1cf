import { z } from 'zod';

const count = z.int().min(0);

const speakerSchema = z.strictObject({
  serial: z.string(),
  address: z.string().describe('Where its beats come from. One serial from two addresses is two speakers.'),
  test: z.boolean().describe('Whether it says that it is no robot, but somebody who looks whether a path works.'),
  verified: z.boolean().describe('Whether its signature was looked at and holds.'),
  presence: z.enum(['alive', 'late', 'gone']).describe('late after 3 beats that did not come, gone after 15.'),
  ageMs: z.number().describe('Since its last beat.'),
  beats: count,
  copies: count.describe('Beats that came once more within their period, as by broadcast and unicast both.'),
  replayed: count.describe('Other beats that were not newer than one before.'),
  lost: count.describe('Beats missing in its sequence since it was first heard.'),
  periodMs: z.number().nullable().describe('Mean time from beat to beat; null before the third beat.'),
  jitterMs: z.number().nullable().describe('Standard deviation of that time.'),
  alsoFrom: z.array(z.string()).describe('Other addresses that speak with the same serial, at most 16.'),
  conflictWith: z
    .array(z.string())
    .describe('Those of them where another device speaks, or a recording of an earlier life.'),
  bootCounter: count,
  sequence: count,
  uptimeS: count,
  moving: z.boolean().nullable().describe('null: it does not know.'),
  stopped: z.boolean().nullable(),
  batteryPercent: z.number().nullable(),
  pose: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).nullable(),
  software: z.string().nullable(),
});

const noiseSchema = z.strictObject({
  address: z.string().nullable().describe('null: all addresses beyond those that are kept apart.'),
  malformed: count,
  otherVersion: count,
  otherKey: count.describe('Signed with a key that is not accepted here.'),
  forged: count.describe('Names the key of the site, and is not signed with it.'),
});

const viewShape = {
  at: z.string().describe('UTC of this machine, for people.'),
  forMs: z.number().describe('How long it has listened.'),
  hears: z
    .enum(['everything', 'broadcasts'])
    .describe(
      'As of now. broadcasts: another program of this machine has the port, and what is sent to it alone goes there.',
    ),
  verifies: z.boolean().describe('false: without a key nothing is verified.'),
  datagrams: count,
  speakers: z.array(speakerSchema),
  moreBeats: count.describe('Beats of speakers beyond those that are kept apart.'),
  noise: z.array(noiseSchema).describe('Datagrams that were no beats, by the address they came from.'),
  dropped: count
    .nullable()
    .describe(
      'What the kernel threw away on the port meanwhile, at any program of this machine; null: it does not say.',
    ),
};

/** One line of `gw heartbeat sniff --json`. */
export const heartbeatSniffSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('state'), ...viewShape }),
  z.strictObject({ event: z.literal('ended'), ...viewShape }),
]);
export type HeartbeatSniffEvent = z.infer<typeof heartbeatSniffSchema>;
