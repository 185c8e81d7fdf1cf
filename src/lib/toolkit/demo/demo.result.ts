import { z } from 'zod';
import { checklistRunSchema, recordVerifySchema } from '../checklist/checklist.result.ts';
import { findingSchema } from '../finding.result.ts';

/**
 * `gw demo`: addresses of the servers, result of the checklist, written files. Of a demo that did not come to its end, what
 * was done until then; the error of the envelope says why it ended.
 */
export const demoSchema = z.strictObject({
  dir: z.string().describe('Output folder, absolute.'),
  ok: z.boolean(),
  end: z
    .enum(['complete', 'interrupted', 'failed'])
    .describe(
      'interrupted: by a person. failed: a process ended, or an error occurred; see the error of the envelope.',
    ),
  tookMs: z.number().describe('From the start of the first process to the last written report.'),
  robot: z.strictObject({ serial: z.string(), software: z.string() }).nullable().describe('null: it was not ready.'),
  addresses: z
    .strictObject({
      surface: z.string().describe('Operator surface, full socket.'),
      service: z.string().describe('Technician page.'),
      readOnly: z.string().describe('Read-only socket, the only one that a remote tunnel reaches.'),
      chassis: z.string(),
    })
    .nullable()
    .describe('Addresses of the servers, which still run with --keep; null: the robot was not ready.'),
  readyMs: z.strictObject({
    sim: z.number().nullable().describe('From process start to ready; null: it was not ready.'),
    serve: z.number().nullable().describe('From process start to ready; null: it was not ready.'),
  }),
  kept: z.boolean().describe('true with --keep: what stands runs until Ctrl-C.'),
  standing: z.array(z.string()).describe('The processes that run until Ctrl-C: gw sim, gw serve.'),
  checklist: checklistRunSchema.nullable().describe('null: its first step was not reached.'),
  cloud: z
    .array(findingSchema)
    .describe('The rehearsal of the cloud link: connected, an outage, a stop, a release. not-checked: also not run.'),
  record: recordVerifySchema
    .nullable()
    .describe('The record, as verified by `gw checklist verify`; null: this run has none.'),
  lastRecord: recordVerifySchema
    .nullable()
    .describe('Where this run has no record: that of the last run in this folder, which was left; null: none.'),
  logs: z.array(z.string()).describe('Log files of the processes, absolute.'),
});
export type Demo = z.infer<typeof demoSchema>;
