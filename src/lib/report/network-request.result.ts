import { z } from 'zod';

const person = z.strictObject({
  company: z.string().nullable(),
  name: z.string().nullable(),
  mail: z.string().nullable(),
  phone: z.string().nullable(),
  salutation: z.enum(['Mr', 'Ms']).nullable(),
  title: z.string().nullable().describe('Academic title.'),
  lastName: z.string().nullable(),
  street: z.string().nullable(),
  postcode: z.string().nullable(),
  city: z.string().nullable(),
  country: z.string().nullable(),
});

/** A connection out of the site, from the gateway. */
const outboundSchema = z.strictObject({
  use: z.enum(['mqtt-443', 'mqtt', 'storage', 'tunnel', 'enrolment', 'time']).describe('What it is for.'),
  host: z.string().nullable().describe('null: not in the site file, open in the letter.'),
  port: z.int(),
  alpn: z.string().nullable().describe('ALPN identifier that is used on it; null for none or not known.'),
  need: z
    .enum(['needed', 'optional', 'in-session', 'before-delivery'])
    .describe('in-session: only while remote support is open. before-delivery: done once before the robot comes.'),
  readsTime: z.boolean().describe('Whether the gateway also reads the time of day there, every six hours.'),
});

/** A connection into the house network, from the gateway to one agreed address. */
const houseSchema = z.strictObject({
  name: z.string().nullable().describe('null for the building module and the voice service.'),
  kind: z.enum(['door', 'lift', 'level-change', 'building-module', 'voice', 'other']),
  host: z.string(),
  port: z.int(),
});

/** A service that runs on the gateway itself: nothing has to be allowed for it. */
const onGatewaySchema = houseSchema.omit({ host: true });

/** A connection that stays inside the robot segment. */
const insideSchema = z.strictObject({
  use: z.enum(['chassis', 'operator', 'heartbeat', 'ssh', 'adb']),
  protocol: z.enum(['tcp', 'udp']),
  port: z.int(),
});

/** A value that the letter needs and the site file does not have. */
const openPointSchema = z.strictObject({
  id: z.string(),
  from: z.enum(['operator', 'customer']).describe('Who has to provide it.'),
  key: z.string().describe('Site file key.'),
  what: z.string(),
});

export const networkRequestFactsSchema = z.strictObject({
  site: z.string(),
  serial: z.string(),
  customer: person,
  operator: person,
  region: z.string(),
  segment: z.string().nullable().describe('Address range of the robot segment.'),
  reservations: z.array(
    z.strictObject({
      device: z.enum(['chassis', 'gateway']),
      mac: z.string().nullable(),
      address: z.string().nullable(),
      name: z.string().nullable().describe('Host name, where the site file has that instead of an address.'),
    }),
  ),
  tablet: z
    .strictObject({ mac: z.string().nullable(), address: z.string().nullable() })
    .describe('As in the site file. Both: its address is to be reserved as well; otherwise it has plain DHCP.'),
  outbound: z.array(outboundSchema),
  house: z.array(houseSchema),
  onGateway: z.array(onGatewaySchema),
  inside: z.array(insideSchema),
  heartbeat: z
    .strictObject({
      broadcast: z.boolean().describe('Within the robot segment.'),
      unicast: z.array(z.string()).describe('Gateways of the other robots; addresses of this machine left out.'),
      routed: z.boolean().describe('Whether UDP 45301 has to be routed between the gateways of several segments.'),
    })
    .nullable()
    .describe('How the robots of the site exchange heartbeats; null when this one has none.'),
  open: z.array(openPointSchema),
});
export type NetworkRequestFacts = z.infer<typeof networkRequestFactsSchema>;
export type OpenPoint = z.infer<typeof openPointSchema>;
