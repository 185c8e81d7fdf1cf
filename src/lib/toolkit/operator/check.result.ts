import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

const cell = z.strictObject({
  expected: z.array(z.int()).describe('Any of these is right.'),
  found: z.int().nullable().describe('null: nothing came back, or it was not asked.'),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
});

/** Shape of `gw operator check --json`. */
export const operatorCheckSchema = z.strictObject({
  full: z.strictObject({ host: z.string(), port: z.int() }),
  readOnly: z
    .strictObject({ host: z.string(), port: z.int() })
    .nullable()
    .describe('null: from this machine the read-only socket must not be seen, so its rows are not checked.'),
  routes: z.array(
    z.strictObject({
      method: z.string(),
      path: z.string(),
      meaning: z.string(),
      full: cell,
      readOnly: cell,
      note: z.string().nullable().describe('Why more than the specified status is right, or why it was not checked.'),
    }),
  ),
  findings: z.array(findingSchema).describe('Every row of the route table, and every rule of the read-only socket.'),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int() }),
  requests: z.int().describe('How many requests were sent.'),
  tookMs: z.number(),
});
export type OperatorCheck = z.infer<typeof operatorCheckSchema>;
export type RouteRow = OperatorCheck['routes'][number];
