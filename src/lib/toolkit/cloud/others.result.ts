import { z } from 'zod';

/** `gw cloud others --json` */
export const cloudOthersSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong: a file or a message could not be read.'),
  robots: z.array(
    z.strictObject({
      serial: z.string().nullable().describe('null: neither message nor topic names a robot.'),
      count: z.int(),
      oldest: z.string().describe('UTC, by the clock of the gateway when it was made.'),
      newest: z.string(),
      files: z.array(z.string()),
    }),
  ),
  unread: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  exported: z
    .strictObject({ path: z.string(), serial: z.string(), count: z.int(), bytes: z.int(), sha256: z.string() })
    .nullable(),
});
export type CloudOthers = z.infer<typeof cloudOthersSchema>;
