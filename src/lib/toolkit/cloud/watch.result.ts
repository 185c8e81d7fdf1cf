import { z } from 'zod';
import { cloudStatusWord } from './view.result.ts';

const at = z.string().describe('UTC of this machine, for people.');

/** One line of `gw cloud watch --json`. */
export const cloudWatchSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('state'),
    at,
    status: cloudStatusWord,
    detail: z.string(),
    kept: z.int().nullable().describe('Messages in the outbox; null: unknown.'),
    discarded: z.int().nullable().describe('Since the start of gw; null: unknown.'),
  }),
  z.strictObject({
    event: z.literal('change'),
    at,
    part: z.enum(['link', 'outbox', 'stop', 'tunnel', 'discarded', 'release', 'upload']),
    detail: z.string(),
  }),
  z.strictObject({ event: z.literal('unreachable'), at, detail: z.string() }),
  z.strictObject({
    event: z.literal('ended'),
    watchedMs: z.number(),
    status: cloudStatusWord.nullable().describe('State at the end; null: the gateway did not answer.'),
  }),
]);
export type CloudWatchEvent = z.infer<typeof cloudWatchSchema>;
