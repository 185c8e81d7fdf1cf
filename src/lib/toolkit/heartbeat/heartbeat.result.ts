import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

const count = z.int().min(0);

const senderSchema = z.strictObject({
  serial: z.string(),
  address: z.string().describe('Source address. One serial from two addresses is two senders.'),
  test: z.boolean().describe('Whether it sends test heartbeats and is not a robot.'),
  verified: z.boolean().describe('Whether its signature was verified.'),
  presence: z.enum(['alive', 'late', 'gone']).describe('late after 3 missed heartbeats, gone after 15.'),
  ageMs: z.number().describe('Since its last heartbeat.'),
  heartbeats: count,
  copies: count
    .nullable()
    .describe('Duplicates within one period, such as by broadcast and unicast; null: not known from gw serve.'),
  replayed: count
    .nullable()
    .describe('Other heartbeats that were not newer than an earlier one; null: gw serve counts those of all senders.'),
  lost: count.describe('Gaps in its sequence since the first heartbeat received.'),
  periodMs: z.number().nullable().describe('Mean time from heartbeat to heartbeat; null before the third heartbeat.'),
  jitterMs: z.number().nullable().describe('Standard deviation of that time.'),
  alsoFrom: z.array(z.string()).describe('Other addresses that send with the same serial, at most 16.'),
  conflictWith: z.array(z.string()).describe('Those of them that are another device, or a replay of an earlier boot.'),
  bootCounter: count.nullable().describe('null: not known from gw serve.'),
  sequence: count.nullable().describe('null: not known from gw serve.'),
  uptimeS: count,
  moving: z.boolean().nullable().describe('null: unknown.'),
  stopped: z.boolean().nullable(),
  batteryPercent: z.number().nullable(),
  pose: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }).nullable(),
  map: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Mark of the map in which the pose counts, the same for the same map in the same version. null: unknown. Absent: by a gw that does not know it yet.',
    ),
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
    .enum(['everything', 'broadcasts', 'gateway'])
    .describe(
      'Current state. broadcasts: another program of this machine has the port and gets the unicast datagrams. gateway: gw serve has it; what was not broadcast is as that one received it since this command began.',
    ),
  verifies: z.boolean().describe('false: no key, no heartbeat is verified.'),
  datagrams: count,
  senders: z.array(senderSchema),
  otherHeartbeats: count.describe('Heartbeats of senders beyond the bound.'),
  noise: z.array(noiseSchema).describe('Rejected datagrams by source address.'),
  gateway: z
    .strictObject({
      replayed: count.describe('Heartbeats of all senders that were not newer than an earlier one.'),
      lastTest: z
        .strictObject({ serial: z.string(), address: z.string(), ageMs: z.number() })
        .nullable()
        .describe('The last test heartbeat; null: none.'),
    })
    .nullable()
    .describe('What only gw serve reports; null: this command has the port itself.'),
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

/** Shape of `gw heartbeat check --json`. */
export const heartbeatCheckSchema = z.strictObject({
  verdict: checkVerdictSchema,
  received: z.array(z.string()).describe('Serials of the other robots that are alive.'),
  expected: z.array(z.string()).describe('Serials in fleet.robots of the site file, without this robot.'),
  receives: z
    .enum(['everything', 'broadcasts'])
    .describe('broadcasts: the gateway of this machine has the port; the rest is from its GET /api/nachbarn.'),
  findings: z.array(lineSchema),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int(), notApplicable: z.int() }),
  tookMs: z.number(),
});
export type HeartbeatCheck = z.infer<typeof heartbeatCheckSchema>;

/** Shape of `gw heartbeat key new --json`. */
export const heartbeatKeySchema = z.strictObject({
  file: z.string().describe('The file of the new key.'),
  key: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .describe('Name of the key: the same on every robot that has it. It does not reveal the key.'),
});
export type HeartbeatKey = z.infer<typeof heartbeatKeySchema>;

/** Shape of `gw heartbeat send --json`. */
export const heartbeatSendSchema = z.strictObject({
  serial: z.string().describe('Serial of the test heartbeats; not a robot.'),
  times: z.int().describe('Number of heartbeats per destination.'),
  ways: z.array(
    z.strictObject({
      to: z.string(),
      from: z.string().nullable().describe('Address of the outgoing interface of a broadcast; null for unicast.'),
      sent: z.int(),
      failure: z.string().nullable().describe('Last error of the operating system.'),
    }),
  ),
});
export type HeartbeatSend = z.infer<typeof heartbeatSendSchema>;
