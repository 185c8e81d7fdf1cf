import { z } from 'zod';

const count = z.int().min(0);

const senderSchema = z.strictObject({
  serial: z.string(),
  address: z.string().describe('Source address. One serial from two addresses is two senders.'),
  test: z.boolean().describe('Whether it sends test heartbeats and is not a robot.'),
  verified: z.boolean().describe('Whether its signature was verified.'),
  presence: z.enum(['alive', 'late', 'gone']).describe('late after 3 missed heartbeats, gone after 15.'),
  ageMs: z.number().describe('Since its last heartbeat.'),
  heartbeats: count,
  copies: count.describe('Duplicates within one period, such as by broadcast and unicast.'),
  replayed: count.describe('Other heartbeats that were not newer than an earlier one.'),
  lost: count.describe('Gaps in its sequence since the first heartbeat received.'),
  periodMs: z.number().nullable().describe('Mean time from heartbeat to heartbeat; null before the third heartbeat.'),
  jitterMs: z.number().nullable().describe('Standard deviation of that time.'),
  alsoFrom: z.array(z.string()).describe('Other addresses that send with the same serial, at most 16.'),
  conflictWith: z.array(z.string()).describe('Those of them that are another device, or a replay of an earlier boot.'),
  bootCounter: count,
  sequence: count,
  uptimeS: count,
  moving: z.boolean().nullable().describe('null: unknown.'),
  stopped: z.boolean().nullable(),
  batteryPercent: z.number().nullable(),
  pose: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).nullable(),
  software: z.string().nullable(),
});

const noiseSchema = z.strictObject({
  address: z.string().nullable().describe('null: all addresses beyond the bound.'),
  malformed: count,
  otherVersion: count,
  otherKey: count.describe('Signed with a key that is not accepted.'),
  forged: count.describe('The signature does not match the named key.'),
});

const viewShape = {
  at: z.string().describe('UTC, by the wall clock of this machine.'),
  forMs: z.number().describe('Duration of listening.'),
  receives: z
    .enum(['everything', 'broadcasts'])
    .describe(
      'Current state. broadcasts: another program of this machine has the port and gets the unicast datagrams.',
    ),
  verifies: z.boolean().describe('false: no key, no heartbeat is verified.'),
  datagrams: count,
  senders: z.array(senderSchema),
  otherHeartbeats: count.describe('Heartbeats of senders beyond the bound.'),
  noise: z.array(noiseSchema).describe('Rejected datagrams by source address.'),
  dropped: count
    .nullable()
    .describe('Datagrams dropped by the kernel on the port, for all programs of this machine; null: unknown.'),
};

/** One line of `gw heartbeat sniff --json`. */
export const heartbeatSniffSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('state'), ...viewShape }),
  z.strictObject({ event: z.literal('ended'), ...viewShape }),
]);
export type HeartbeatSniffEvent = z.infer<typeof heartbeatSniffSchema>;
