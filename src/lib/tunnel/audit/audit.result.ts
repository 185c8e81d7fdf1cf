import { z } from 'zod';

/** What is wrong, by kind, with the check that it belongs to. The report module has the texts. */
export const checkOfFinding = {
  'changed-line': 'chain',
  'unreadable-line': 'chain',
  'invalid-record': 'chain',
  'foreign-field': 'chain',
  'missing-records': 'chain',
  'repeated-line': 'chain',
  'out-of-order': 'chain',
  forked: 'chain',
  'chain-broken': 'chain',
  'missing-end': 'end',
  'end-differs': 'end',
  'head-behind': 'end',
  'head-invalid': 'end',
  'other-serial': 'chain',
  'start-without-end': 'pairs',
  'end-without-start': 'pairs',
  'second-end': 'pairs',
  'session-repeated': 'pairs',
  'replaced-unknown': 'pairs',
  overlap: 'overlap',
  'beyond-own-clock': 'durations',
  'beyond-configured': 'configured',
  'other-region': 'scope',
  'services-count': 'scope',
  'service-not-in-list': 'scope',
  'token-in-records': 'tokens-records',
  'token-like-in-records': 'tokens-records',
  'token-in-log': 'tokens-logs',
  'token-like-in-log': 'tokens-logs',
  'missing-in-cloud': 'cloud',
  'missing-locally': 'cloud',
  'cloud-differs': 'cloud',
  'cloud-invalid': 'cloud',
} as const;

/** What was judged. */
const checkIds = [
  'chain',
  'beginning',
  'end',
  'pairs',
  'durations',
  'configured',
  'scope',
  'overlap',
  'tokens-records',
  'tokens-logs',
  'cloud',
] as const;

const checkDetails = [
  'done',
  'findings',
  'no-records',
  /** Records before the first present one were removed by rotation. */
  'rotated',
  /** Lines could not be read or records are missing, so that not every session was judged. */
  'unjudged',
  /** Sessions without a duration. */
  'unknown-durations',
  /** Without head.json, or of a single file. */
  'no-head',
  'no-first',
  /** One record follows the one that head.json names: gw is writing, ended between the two, or did not write it. */
  'head-one-behind',
  /** A last line without a line end: it is being written, or gw was ended in the middle of it. */
  'torn',
  /** The last session may run, by its start and its own clock. */
  'running',
  /** Without a site file. */
  'no-limits',
  'no-logs',
  /** Log files were given, and not all of them could be searched. */
  'unsearched-logs',
  'no-cloud',
  /** Records newer than the copy of the cloud. */
  'cloud-behind',
] as const;

const findingCode = z.enum(Object.keys(checkOfFinding) as (keyof typeof checkOfFinding)[]);
const values = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .describe('Values that the sentence names; never a token.');
const lineOf = { file: z.string().nullable(), line: z.int().nullable().describe('From 1.') };

const checkSchema = z.strictObject({
  id: z.enum(checkIds),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.enum(checkDetails),
  text: z.string().describe('The detail as text; empty when there is nothing to add.'),
  values,
});

const findingSchema = z.strictObject({
  code: findingCode,
  ...lineOf,
  seq: z.int().nullable().describe('Number of the record.'),
  session: z.string().nullable(),
  title: z.string(),
  sentence: z.string(),
  remedy: z.string(),
  values,
});

/** Shape of `gw tunnel audit --json`. */
export const tunnelAuditSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'findings', 'not-decided'])
    .describe('not-decided: no finding, but at least one check was not made.'),
  local: z
    .enum(['ok', 'findings', 'not-decided'])
    .describe('The same for the local records in themselves, without cloud, logs, limits and rotated records.'),
  recordsPath: z.string().describe('Folder or file of the records.'),
  serial: z.string().nullable(),
  files: z.array(z.strictObject({ path: z.string(), bytes: z.int() })),
  logs: z.array(z.string()).describe('Log files that were searched for tokens.'),
  records: z.int().describe('Lines of the files.'),
  firstSeq: z.int().nullable(),
  lastSeq: z.int().nullable(),
  firstAt: z.string().nullable(),
  lastAt: z.string().nullable(),
  sessions: z.int(),
  refused: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
  unusualRefusals: z
    .strictObject({ day: z.string(), count: z.int() })
    .nullable()
    .describe('The day (UTC) with the most refusals, when more than 20.'),
  uncleanShutdowns: z.int(),
  /** Ends without a duration, those after an unclean shutdown included. */
  unknownDurations: z.int(),
  /** Records with an earlier time than the one before. */
  clockSteps: z.int().describe('How often the wall clock went backwards.'),
  firstClockStep: z.strictObject({ file: z.string(), line: z.int() }).nullable(),
  /** Files with parts of torn lines beside the records. */
  tornParts: z.int(),
  running: z
    .strictObject({ session: z.string(), at: z.string(), untilAt: z.string() })
    .nullable()
    .describe('The last session, when it may still run by its own clock.'),
  cloud: z
    .strictObject({
      path: z.string(),
      /** Of this robot. */
      records: z.int(),
      /** Further ones with the same content. */
      copies: z.int(),
      /** Lines of other robots, and messages that are no session records. */
      others: z.int(),
      /** Older than the first local record. */
      older: z.int(),
      newer: z.int().describe('Newest local records that are not in the copy yet.'),
    })
    .nullable()
    .describe('The comparison with the copy of the cloud; null: not compared.'),
  checks: z.array(checkSchema),
  firstBroken: z
    .strictObject({ ...lineOf, seq: z.int().nullable() })
    .nullable()
    .describe('The first broken line of the chain; null: none.'),
  counts: z.array(z.strictObject({ code: findingCode, count: z.int() })).describe('All findings, by code.'),
  findings: z.array(findingSchema).describe('At most 1,000.'),
  notListed: z.int().describe('Findings that are counted and not listed.'),
  information: z.array(z.string()).describe('No findings, but worth knowing.'),
  report: z
    .strictObject({
      path: z.string(),
      format: z.enum(['html', 'pdf']),
      lang: z.enum(['de', 'en']),
      bytes: z.int(),
      pages: z.int().nullable(),
      replacedCharacters: z.int(),
    })
    .nullable(),
});
export type TunnelAudit = z.infer<typeof tunnelAuditSchema>;

type Finding = TunnelAudit['findings'][number];
type Check = TunnelAudit['checks'][number];
export type FindingCode = Finding['code'];
export type CheckId = Check['id'];
export type CheckDetail = Check['detail'];
export type AuditFinding = Omit<Finding, 'title' | 'sentence' | 'remedy'>;
export type AuditCheck = Omit<Check, 'title' | 'text'>;

/** The result without texts. `verdict` is that of the local records, and of everything that was given to compare with them. */
export interface AuditFacts
  extends Omit<TunnelAudit, 'local' | 'recordsPath' | 'logs' | 'information' | 'report' | 'checks' | 'findings'> {
  readonly checks: readonly AuditCheck[];
  /** In the order in which they were found, at most MAX_LISTED. */
  readonly findings: readonly AuditFinding[];
}
