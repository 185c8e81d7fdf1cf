import { z } from 'zod';
import { titleSchema } from '../title-schema.ts';

/** What the pages and other clients are shown of deliveries; the text of a `describe` is published with it. */

const holdCauses = [
  'restart',
  'stop',
  'failed',
  'ended',
  'pose-alarm',
  'map',
  'link',
  'unowned-move',
  'trial',
  'gate',
  'refused',
  'person',
] as const;

const countdownKinds = ['next', 'return', 'idle'] as const;
const station = z.string().nullable().describe('Null for the dock.');
const title = titleSchema.exactOptional();
const queued = z.strictObject({ id: z.string(), station: z.string(), title });

export const deliveryViewSchema = z.strictObject({
  arrival: z
    .strictObject({
      id: z.string().describe('Of its drive.'),
      station: z.string(),
      title,
      forMs: z.number().nonnegative(),
    })
    .nullable()
    .describe('The robot has arrived, and a person is to take what it brings. Null: none waits.'),
  queue: z.array(queued).describe('The next one first. A restart of the gateway forgets it, and a stop clears it.'),
  isOpen: z.boolean().describe('Whether a station can be put in the queue: something runs, or waits.'),
  countdown: z
    .strictObject({
      id: z.string(),
      kind: z.enum(countdownKinds),
      station,
      title,
      leftMs: z.number().nonnegative().describe('It only runs while a page says that it shows it.'),
    })
    .nullable()
    .describe('The movement that begins by itself unless a person ends it. Null: none.'),
  hold: z
    .strictObject({ cause: z.enum(holdCauses), reason: z.string().describe('For the technician, in English.') })
    .nullable()
    .describe('Why nothing begins by itself until a person says so. Null: it may, or nothing is set to.'),
  waitsFor: z
    .string()
    .nullable()
    .describe(
      'Why what is due to begin by itself does not, for the technician, in English. Null: nothing waits for it.',
    ),
  isAfterRestart: z.boolean().describe('The gateway has restarted, and no person has ordered anything since.'),
});
export type DeliveryShown = z.infer<typeof deliveryViewSchema>;
