import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { type Attachment, attachmentSchema, softwareSchema } from '../record.result.ts';
import type { CompletedStep } from '../run/runner-options.ts';
import { stepResultSchema } from '../run.result.ts';

/** The lines of a journal, and the state they add up to. */

export const JOURNAL_FORMAT = 'gw/checklist-journal/1';
const outcomeSchema = z.strictObject({
  ...stepResultSchema
    .pick({ shown: true, remedy: true, expectations: true, error: true, answer: true, values: true, measured: true })
    .partial().shape,
  ...stepResultSchema.pick({ verdict: true, why: true }).shape,
});

const robotSchema = z.strictObject({ site: z.string(), serial: z.string() });

const begunSchema = z.strictObject({
  kind: z.literal('begun'),
  format: z.literal(JOURNAL_FORMAT),
  id: z.uuid(),
  at: z.iso.datetime(),
  gw: z.string(),
  checklist: z.strictObject({ name: z.string(), sha256: z.string() }),
  robots: z.array(robotSchema).min(1),
});
export type Begun = z.infer<typeof begunSchema>;

const lineSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('resumed'), at: z.iso.datetime(), gw: z.string() }),
  z.strictObject({ kind: z.literal('attachment'), attachment: attachmentSchema }),
  z.strictObject({
    kind: z.literal('step'),
    robot: z.int().min(0),
    /** Since the start of this session. */
    elapsedMs: z.number(),
    result: stepResultSchema,
    readings: z.record(z.string(), outcomeSchema),
    software: softwareSchema.nullable(),
    /** Absent in journals of older versions. */
    simulated: z.boolean().nullable().optional(),
  }),
  z.strictObject({ kind: z.literal('record'), at: z.iso.datetime(), edition: z.int(), ok: z.boolean() }),
]);
export type JournalLine = z.infer<typeof lineSchema>;

/** State of a run after its whole journal is read. */
export interface JournalState {
  readonly begun: Begun;
  /** Per robot, in run order: the newest result of every completed step, the newest of them last. */
  readonly completed: readonly ReadonlyMap<string, CompletedStep>[];
  readonly attachments: readonly Attachment[];
  readonly resumedAt: readonly string[];
  /** Total of all sessions. */
  readonly tookMs: number;
  /** Number of records written for this run. */
  readonly editions: number;
}

/** Parses the bytes of a journal. A last line truncated by a crash is ignored. Throws JOURNAL_BROKEN. */
export function parseJournal(bytes: Uint8Array, path: string): JournalState {
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch (cause) {
    throw broken(path, 'it is not UTF-8 text', cause);
  }
  const [head, ...lines] = text.split('\n').slice(0, -1);
  const begun = read(begunSchema, head, 1, path);
  return stateOf(
    begun,
    lines.map((line, index) => read(lineSchema, line, index + 2, path)),
    path,
  );
}

function read<T>(schema: z.ZodType<T>, line: string | undefined, number: number, path: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line ?? '');
  } catch (cause) {
    throw broken(path, `line ${number} is not JSON`, cause);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw broken(path, `line ${number} is not a valid journal line`, parsed.error);
  return parsed.data;
}

export function stateOf(begun: Begun, lines: readonly JournalLine[], path = ''): JournalState {
  const completed = begun.robots.map(() => new Map<string, CompletedStep>());
  const attachments: Attachment[] = [];
  const resumedAt: string[] = [];
  let [tookMs, sessionMs, editions] = [0, 0, 0];
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'attachment') attachments.push(line.attachment);
    else if (line.kind === 'record') editions = Math.max(editions, line.edition);
    else if (line.kind === 'resumed') {
      resumedAt.push(line.at);
      tookMs += sessionMs;
      sessionMs = 0;
    } else {
      const { robot, elapsedMs, result, readings, software, simulated } = line;
      const ofRobot = completed[robot];
      if (!ofRobot) throw broken(path, `line ${index + 2} names a robot that is not in this run`);
      // Inserted again, so that the newest comes last.
      ofRobot.delete(result.id);
      ofRobot.set(result.id, { result, readings, software, simulated });
      sessionMs = Math.max(sessionMs, elapsedMs);
    }
  }
  return { begun, completed, attachments, resumedAt, tookMs: tookMs + sessionMs, editions };
}

export function broken(path: string, why: string, cause?: unknown): GwError {
  return new GwError('JOURNAL_BROKEN', `${path} cannot be resumed: ${why}.`, { cause });
}
