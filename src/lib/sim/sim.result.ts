import { z } from 'zod';

const chassis = z.strictObject({
  host: z.string(),
  port: z.int(),
  serial: z.string(),
  software: z.string(),
});

/** Shape of one line of `gw sim --json`. */
export const simEventSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('listening'),
    part: z.enum([
      'chassis',
      'voice',
      'building',
      'enrolment',
      'mqtt',
      'mqtt-alpn',
      'storage',
      'tunnel',
      'tablet',
      'control',
    ]),
    url: z.string(),
  }),
  z.strictObject({
    event: z.literal('waiting'),
    what: z.string().describe('What a start that takes long waits for now.'),
    ms: z.number().describe('For how long it has waited for it.'),
  }),
  z.strictObject({ event: z.literal('note'), text: z.string() }),
  z.strictObject({ event: z.literal('boot'), state: z.enum(['booting', 'ready']) }),
  z.strictObject({ event: z.literal('fault'), name: z.string(), on: z.boolean() }),
  z.strictObject({
    event: z.literal('ready'),
    dir: z.string().describe('Absolute folder of the written files.'),
    sitePath: z.string().describe('The site file for this robot.'),
    chassis,
    voiceUrl: z.string().nullable(),
    buildingUrl: z.string().nullable(),
    passwordPath: z.string().nullable().describe('File with the clear device password; null without one.'),
    codePath: z.string().nullable().describe('File with the next valid one-time code; null without one.'),
  }),
  z.strictObject({
    event: z.literal('fleet'),
    robots: z.int().describe('Number of neighbours that send heartbeats.'),
    firstSerial: z.string(),
    lastSerial: z.string().describe('The neighbour that the faults of the fleet affect.'),
    to: z.strictObject({ host: z.string(), port: z.int().describe('UDP port.') }),
  }),
  z.strictObject({ event: z.literal('ended') }),
]);
export type SimEvent = z.infer<typeof simEventSchema>;

/** Shape of `gw sim fault --json`. */
export const simFaultSchema = z.strictObject({
  dir: z.string().nullable().describe('Folder of the simulator; null when none is running.'),
  changed: z.strictObject({ name: z.string(), on: z.boolean() }).nullable(),
  note: z.string().optional().describe('Why the change has no effect; absent when it has one.'),
  faults: z.array(
    z.strictObject({
      name: z.string(),
      on: z.boolean().nullable().describe('null: not checked, because no simulator runs.'),
      effect: z.string(),
    }),
  ),
});
export type SimFault = z.infer<typeof simFaultSchema>;
