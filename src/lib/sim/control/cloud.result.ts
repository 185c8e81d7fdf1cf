import { z } from 'zod';

const dir = z.string().describe('Folder of the simulator.');
const serial = z.string().describe('Serial number of the device.');
const connected = z
  .boolean()
  .describe('Whether the device was connected when the message was sent; its delivery is not checked.');

const status = z.enum(['QUEUED', 'IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'REMOVED', 'CANCELED']);
const details = z.record(z.string(), z.string()).describe('Status details as the device reported them.');

const job = z.strictObject({
  jobId: z.string(),
  serial,
  executionNumber: z.int(),
  status,
  statusDetails: details,
  versionNumber: z.int().describe('Counts the changes of the job.'),
  queuedAt: z.string().describe('UTC.'),
  updatedAt: z.string().describe('UTC.'),
  history: z.array(z.strictObject({ status, statusDetails: details, at: z.string().describe('UTC.') })),
});
export type SimCloudJob = z.infer<typeof job>;

/** Shape of `gw sim cloud stop --json`. */
export const simCloudStopSchema = z.strictObject({
  dir,
  serial,
  id: z.string().describe('Id of the stop message.'),
  topic: z.string(),
  connected,
});
export type SimCloudStop = z.infer<typeof simCloudStopSchema>;

/** Shape of `gw sim cloud release --json`. */
export const simCloudReleaseSchema = z.strictObject({
  dir,
  job,
  connected,
  waited: z.boolean().describe('Whether the command waited for the end of the job.'),
  ended: z.boolean().describe('Whether the job has a final status.'),
});
export type SimCloudRelease = z.infer<typeof simCloudReleaseSchema>;

/** Shape of `gw sim cloud send --json`. */
export const simCloudSendSchema = z.strictObject({ dir, topic: z.string(), bytes: z.int(), retain: z.boolean() });
export type SimCloudSend = z.infer<typeof simCloudSendSchema>;

/** Shape of `gw sim cloud received --json`. */
export const simCloudReceivedSchema = z.strictObject({
  dir,
  topic: z.string().nullable().describe('The topic that was asked for; null: every topic.'),
  kept: z.int().describe('Number of messages that the simulator keeps, at most 10,000.'),
  matching: z.int().describe('Number of kept messages on that topic.'),
  messages: z.array(
    z.strictObject({
      at: z.string().describe('UTC.'),
      client: z.string(),
      topic: z.string(),
      qos: z.int(),
      bytes: z.int(),
      text: z.string().nullable().describe('null: the payload is not UTF-8.'),
    }),
  ),
});
export type SimCloudReceived = z.infer<typeof simCloudReceivedSchema>;

/** Shape of `gw sim cloud restart --json`. */
export const simCloudRestartSchema = z.strictObject({
  dir,
  connections: z.int().describe('Number of connections that the restart has ended.'),
});
export type SimCloudRestart = z.infer<typeof simCloudRestartSchema>;

/** Shape of `gw sim cloud jobs --json`. */
export const simCloudJobsSchema = z.strictObject({ dir, jobs: z.array(job) });
export type SimCloudJobs = z.infer<typeof simCloudJobsSchema>;

/** Shape of `gw sim cloud cancel --json`. */
export const simCloudCancelSchema = z.strictObject({ dir, job });
export type SimCloudCancel = z.infer<typeof simCloudCancelSchema>;
