import { z } from 'zod';
import { checklistRunSchema, recordVerifySchema } from '../checklist/checklist.result.ts';
import { findingSchema } from '../finding.result.ts';

/** `gw demo`: addresses of the servers, result of the checklist, written files. */
export const demoSchema = z.strictObject({
  dir: z.string().describe('Output folder, absolute.'),
  ok: z.boolean(),
  tookMs: z.number().describe('From the start of the first process to the last written report.'),
  robot: z.strictObject({ serial: z.string(), software: z.string() }),
  addresses: z
    .strictObject({
      surface: z.string().describe('Operator surface, full socket.'),
      service: z.string().describe('Technician page.'),
      readOnly: z.string().describe('Read-only socket, the only one that a remote tunnel reaches.'),
      chassis: z.string(),
    })
    .describe('Addresses of the servers, which still run with --keep.'),
  readyMs: z.strictObject({
    sim: z.number().describe('From process start to ready.'),
    serve: z.number().describe('From process start to ready.'),
  }),
  kept: z.boolean().describe('true with --keep: the processes ran until Ctrl-C.'),
  checklist: checklistRunSchema,
  cloud: z.array(findingSchema).describe('The rehearsal of the cloud link: connected, an outage, a stop, a release.'),
  record: recordVerifySchema.describe('The record, as verified by `gw checklist verify`.'),
  logs: z.array(z.string()).describe('Log files of the processes, absolute.'),
});
export type Demo = z.infer<typeof demoSchema>;
