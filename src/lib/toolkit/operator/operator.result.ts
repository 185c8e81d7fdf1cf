import { z } from 'zod';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';

const cell = z.strictObject({
  expected: z.array(z.int()).describe('Any of these is correct.'),
  found: z.int().nullable().describe('null: no answer, or not requested.'),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
});

/** Shape of `gw operator check --json`. */
export const operatorCheckSchema = z.strictObject({
  verdict: checkVerdictSchema,
  full: z.strictObject({ host: z.string(), port: z.int() }),
  readOnly: z
    .strictObject({ host: z.string(), port: z.int() })
    .nullable()
    .describe('null: the read-only socket must not be reachable from this machine, so its rows are not checked.'),
  routes: z.array(
    z.strictObject({
      method: z.string(),
      path: z.string(),
      meaning: z.string(),
      full: cell,
      readOnly: cell,
      note: z
        .string()
        .nullable()
        .describe('Why other statuses than the specified one are correct, or why it was not checked.'),
    }),
  ),
  findings: z.array(findingSchema).describe('Every row of the route table, and every rule of the read-only socket.'),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int() }),
  requests: z.int().describe('Number of requests sent.'),
  tookMs: z.number(),
});
export type OperatorCheck = z.infer<typeof operatorCheckSchema>;
export type RouteRow = OperatorCheck['routes'][number];

/** Shape of `gw operator password --json`. */
export const operatorPasswordSchema = z.strictObject({
  file: z.string().describe('The file with the hash.'),
  replaced: z.boolean().describe('Whether a password was set before.'),
  same: z.boolean().describe('true: it is the password that was set before, so nothing changed.'),
  earlier: z.boolean().describe('true: it is one that was set on this gateway earlier, and is in use again.'),
});
export type OperatorPassword = z.infer<typeof operatorPasswordSchema>;
