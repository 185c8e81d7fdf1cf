import { z } from 'zod';
import { name } from './key-types.ts';

/** Deliveries: arrival, queue, and the movements that begin by themselves. Each of these is off without its key. */
export const delivery = z
  .strictObject({
    nextAfterSeconds: z.int().min(10).max(3_600).optional().meta({
      description:
        'Seconds after an arrival from which the next station of the queue is announced without a person. Absent: only a person lets it begin.',
      example: 60,
    }),
    return: z
      .strictObject({
        afterMinutes: z.int().min(1).max(240).describe('Minutes for which an arrival has waited.'),
        station: name.optional().describe('Station to return to. Absent: the dock.'),
      })
      .optional()
      .meta({
        description: 'The return after an arrival without an answer, with an empty queue. Absent: it waits there.',
        example: { afterMinutes: 10 },
      }),
    idle: z
      .strictObject({
        afterMinutes: z
          .int()
          .min(1)
          .max(1_440)
          .optional()
          .meta({ description: 'Minutes without an order.', example: 30 }),
        belowPercent: z
          .int()
          .min(5)
          .max(90)
          .optional()
          .meta({ description: 'Charge below which it does not wait for these minutes.', example: 25 }),
      })
      .refine(({ afterMinutes, belowPercent }) => afterMinutes !== undefined || belowPercent !== undefined, 'a value')
      .optional()
      .meta({
        description: 'The return to the dock of a robot without an order. Absent: it stays where it is.',
        example: { afterMinutes: 30, belowPercent: 25 },
      }),
    countdownSeconds: z
      .int()
      .min(10)
      .max(120)
      .default(20)
      .describe('Seconds for which a movement that begins by itself is announced on the pages.'),
  })
  .meta({
    description:
      'Deliveries: the arrival waits for a person, further stations can be put in a queue. A movement begins by itself only by `nextAfterSeconds`, `return` and `idle`. Absent: single drives alone.',
    example: { countdownSeconds: 20 },
  });
