import { z } from 'zod';

const count = z.int().nonnegative();
const address = z.string();

/** Another robot of this site. */
const neighbour = z.strictObject({
  serial: z.string(),
  address: address.describe('Sender address of its last heartbeat.'),
  presence: z.enum(['alive', 'late', 'gone']).describe('late after 3 missing heartbeats, gone after 15.'),
  ageMs: z.number().describe('Since its last heartbeat.'),
  upForMs: z.number().describe('Of its gateway, at its last heartbeat.'),
  moving: z.boolean().nullable().describe('null: unknown to it.'),
  stopped: z.boolean().nullable(),
  batteryPercent: z.number().nullable(),
  pose: z
    .strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() })
    .nullable()
    .describe('Metres of its map and degrees.'),
  map: z
    .string()
    .nullable()
    .describe('Mark of its map in its version; null: unknown to it, or its gateway does not send it yet.'),
  isOnThisMap: z
    .boolean()
    .nullable()
    .describe(
      'Whether its pose counts in the map that this robot uses now; null: not known, so the poses do not compare.',
    ),
  software: z.string().nullable().describe('Version of its chassis software; null: unknown to it.'),
  heartbeats: count,
  lost: count.describe('Missing sequence numbers between the received heartbeats.'),
  conflictWith: address
    .nullable()
    .describe('Address of another device that sends with the same serial, or replays old heartbeats.'),
});

/** `GET /api/nachbarn`: the other robots. */
export const neighboursSchema = z.strictObject({
  status: z
    .enum(['listening', 'not-checked'])
    .describe("not-checked does not mean 'none': the heartbeat is not received."),
  detail: z.string().describe('One sentence for a person.'),
  robots: z.array(neighbour),
  rejected: z
    .strictObject({
      malformed: count,
      otherVersion: count,
      otherKey: count,
      forged: count,
      replayed: count,
      tableFull: count.describe('Signed, from an unknown serial, while the table of serials is full.'),
    })
    .nullable()
    .describe('Rejected datagrams on the heartbeat port, by reason; null while the heartbeat is not received.'),
  isTableFull: z
    .boolean()
    .nullable()
    .describe('Whether heartbeats of robots that are neither known nor in fleet.robots are rejected; null: unknown.'),
  ownSerialFrom: address
    .nullable()
    .describe('Address of another device that sends with the serial of this robot; null: none received.'),
  lastTest: z
    .strictObject({ serial: z.string(), address, ageMs: z.number() })
    .nullable()
    .describe('The last test heartbeat (`gw heartbeat send`).'),
  sending: z
    .strictObject({
      serial: z.string().describe('Serial that its heartbeats carry.'),
      heartbeats: count,
      lastAgeMs: z.number().nullable(),
      ways: z.array(
        z.strictObject({
          to: z.string(),
          from: z.string().nullable(),
          accepted: count.describe('By the operating system. Whether a datagram arrived only its receiver knows.'),
          failure: z.string().nullable(),
        }),
      ),
    })
    .nullable()
    .describe('Counters of the sent heartbeats; null: none are sent.'),
  dropped: count
    .nullable()
    .describe('Datagrams that the kernel dropped on that port because its buffer was full; null: unknown.'),
});
