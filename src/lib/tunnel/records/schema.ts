import { z } from 'zod';
import { endReasons, RECORD_FORMAT, refusalReasons } from '../model.ts';

const digits = (count: number) => z.string().regex(new RegExp(`^[0-9a-f]{${count}}$`));
const count = z.int().min(0).nullable();

const base = {
  format: z.literal(RECORD_FORMAT),
  seq: z.int().min(1),
  at: z.iso.datetime(),
  serial: z.string(),
};
const links = { prev: digits(64), hash: digits(64) };
const tokenHash = digits(32);

/** A record, with no field that the format does not have. */
export const recordSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...base,
    kind: z.literal('start'),
    session: z.string(),
    region: z.string(),
    services: z.array(z.string()),
    tokenHash,
    maxS: z.number().min(0),
    replaces: z.string().nullable(),
    ...links,
  }),
  z.strictObject({
    ...base,
    kind: z.literal('end'),
    session: z.string(),
    reason: z.enum(endReasons),
    detail: z.string(),
    durationS: z.number().min(0).nullable(),
    connections: count,
    bytesIn: count,
    bytesOut: count,
    channelId: z.string().nullable(),
    ...links,
  }),
  z.strictObject({
    ...base,
    kind: z.literal('refused'),
    reason: z.enum(refusalReasons),
    detail: z.string(),
    clientMode: z.string(),
    region: z.string(),
    services: z.array(z.string()),
    tokenHash,
    ...links,
  }),
]);
