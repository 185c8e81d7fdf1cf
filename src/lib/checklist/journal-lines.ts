import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { type Attachment, attachmentSchema, softwareSchema } from './record.result.ts';
import { stepResultSchema } from './run.result.ts';
import type { CompletedStep } from './runner-options.ts';

/** What the lines of a journal are, and what they say together. */

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
    /** Since the start of this sitting. */
    elapsedMs: z.number(),
    result: stepResultSchema,
    readings: z.record(z.string(), outcomeSchema),
    software: softwareSchema.nullable(),
  }),
  z.strictObject({ kind: z.literal('record'), at: z.iso.datetime(), edition: z.int(), ok: z.boolean() }),
]);
export type JournalLine = z.infer<typeof lineSchema>;

/** What a journal says, read to its end. */
export interface JournalState {
  readonly begun: Begun;
  /** Per robot, in the order of the run: the newest result of every step that was taken, the newest of them last. */
  readonly taken: readonly ReadonlyMap<string, CompletedStep>[];
  readonly attachments: readonly Attachment[];
  readonly resumedAt: readonly string[];
  /** Of all sittings so far. */
  readonly tookMs: number;
  /** How many records were made of this run. */
  readonly editions: number;
}

/** Reads the bytes of a journal. A last line that a crash cut off is no line. Throws JOURNAL_BROKEN. */
export function parseJournal(bytes: Uint8Array, path: string): JournalState {
  const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch (cause) {
    throw broken(path, 'it is not text', cause);
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
  if (!parsed.success) throw broken(path, `line ${number} is not what a journal of gw says`, parsed.error);
  return parsed.data;
}

export function stateOf(begun: Begun, lines: readonly JournalLine[], path = ''): JournalState {
  const taken = begun.robots.map(() => new Map<string, CompletedStep>());
  const attachments: Attachment[] = [];
  const resumedAt: string[] = [];
  let [tookMs, sittingMs, editions] = [0, 0, 0];
  for (const [index, line] of lines.entries()) {
    if (line.kind === 'attachment') attachments.push(line.attachment);
    else if (line.kind === 'record') editions = Math.max(editions, line.edition);
    else if (line.kind === 'resumed') {
      resumedAt.push(line.at);
      tookMs += sittingMs;
      sittingMs = 0;
    } else {
      const { robot, elapsedMs, result, readings, software } = line;
      const robotTaken = taken[robot];
      if (!robotTaken) throw broken(path, `line ${index + 2} names a robot that is not in this run`);
      // At the end, so that the newest comes last.
      robotTaken.delete(result.id);
      robotTaken.set(result.id, { result, readings, software });
      sittingMs = Math.max(sittingMs, elapsedMs);
    }
  }
  return { begun, taken, attachments, resumedAt, tookMs: tookMs + sittingMs, editions };
}

export function broken(path: string, why: string, cause?: unknown): GwError {
  return new GwError('JOURNAL_BROKEN', `${path} cannot be gone on with: ${why}.`, { cause });
}
