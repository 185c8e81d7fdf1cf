import { z } from 'zod';
import type { ProxyEvent, ProxyExit } from './model.ts';

const exits = [
  'closed',
  'configuration',
  'network-lost',
  'refused',
  'own-clock',
  'internal',
  'terminated',
] as const satisfies readonly ProxyExit[];

const count = z.int().min(0);

/** Shape of one line of `gw tunnel proxy`. */
export const proxyEventSchema: z.ZodType<ProxyEvent> = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('connected'),
    channelId: z.string().nullable().describe('Value of the header channel-id; null: none, or unusable.'),
    localAddress: z.string().describe('Address of this computer in the connection.'),
  }),
  z.strictObject({
    event: z.literal('services'),
    services: z.array(z.string()).readonly().describe('Services that the tunnel service has named.'),
  }),
  z.strictObject({
    event: z.literal('lost'),
    detail: z.string().describe('Why there is no connection, for a person; it is tried again.'),
  }),
  z.strictObject({
    event: z.literal('counts'),
    open: count.describe('Open TCP connections to the read-only socket.'),
    connections: count.describe('All since the start.'),
    bytesIn: count.describe('From the technician to the read-only socket.'),
    bytesOut: count,
  }),
  z.strictObject({
    event: z.literal('ended'),
    exit: z.enum(exits),
    detail: z.string().describe('One sentence for a person.'),
  }),
]);
