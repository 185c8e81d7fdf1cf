import { z } from 'zod';
import { type ProxyExit, proxyExits } from './model.ts';

const count = z.int().min(0);

/** Shape of one line of `gw tunnel proxy`. */
export const proxyEventSchema = z.discriminatedUnion('event', [
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
    exit: z.enum(Object.keys(proxyExits) as ProxyExit[]),
    detail: z.string().describe('One sentence for a person.'),
  }),
]);
/** A line on stdout of the proxy. */
export type ProxyEvent = Readonly<z.infer<typeof proxyEventSchema>>;
