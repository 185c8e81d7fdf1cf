import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { nearest, parseDocument, type Report, readDocument } from '../../document/index.ts';
import { isRecord } from '../../json/index.ts';
import type { Checklist, Step } from '../file/step.ts';

/** What a person signs a line with. */
export const INITIALS = /^[\p{L}\p{N}.-]{1,8}$/u;

/** Answer of a technician to a question, or a measured value. */
export interface Answer {
  /** A measured value comes with yes. */
  readonly answer: 'yes' | 'no' | 'skip';
  readonly by: string | null;
  readonly initials: string | null;
  readonly remark: string | null;
  readonly value: number | null;
  /** Names of stored photos. */
  readonly attachments: readonly string[];
}

/** An answer prepared in a file. */
interface WrittenAnswer extends Answer {
  /** Absolute paths of photos; stored when the step runs. */
  readonly photos: readonly string[];
}

/** Acceptance, by a named person, of a step that is not ok. */
export interface Approval {
  readonly reason: string;
  readonly approvedBy: string;
}

/** Content of an answers file, by step. */
export interface Answers {
  readonly answers: ReadonlyMap<string, WrittenAnswer>;
  readonly approvals: ReadonlyMap<string, Approval>;
}

const word = z.enum(['yes', 'no', 'skip']);
const text = z.string().min(1).max(500);
const MAX_PHOTOS = 10;

const file = z.string().min(1).max(4096);
const writtenSchema = z.strictObject({
  answer: word.optional(),
  value: z.number().optional(),
  by: text.optional(),
  initials: z.string().regex(INITIALS, 'at most 8 letters, digits, . or -').optional(),
  remark: text.optional(),
  photo: file.optional(),
  photos: z.array(file).max(MAX_PHOTOS).optional(),
  accept: z.strictObject({ reason: text, by: text }).optional(),
});
const answersSchema = z.record(z.string(), z.union([word, z.number(), writtenSchema]));

const ANSWERS_MAX_BYTES = 256 * 1024;

/**
 * Parses the answers to a checklist: step id to yes, no, skip, a measured number, or all of it with by, initials,
 * remark and photos; under any step `accept` says who accepts it although it is not ok. Photos are relative to the
 * folder of the file. Throws ANSWERS_INVALID with every problem; an answer to no question is one.
 */
export function parseAnswers(text: string | Uint8Array, file: string, checklist: Checklist): Answers {
  return tidy(parseDocument({ ...rules(checklist), text, file }), file);
}

export async function loadAnswers(path: string, checklist: Checklist): Promise<Answers> {
  return tidy(await readDocument({ ...rules(checklist), path }), path);
}

function rules(checklist: Checklist) {
  return {
    schema: answersSchema,
    maxBytes: ANSWERS_MAX_BYTES,
    error: 'ANSWERS_INVALID',
    check: (value: unknown, report: Report) => checkAnswers(value, checklist, report),
  } as const;
}

function checkAnswers(value: unknown, checklist: Checklist, report: Report): void {
  if (!isRecord(value)) return;
  const isAsked = ({ kind }: Step) => kind === 'confirm' || kind === 'measure';
  const questions = checklist.steps.filter(isAsked).map((step) => step.id);
  for (const [id, written] of Object.entries(value)) {
    const step = checklist.steps.find((one) => one.id === id);
    if (step === undefined || (!isAsked(step) && !isOnlyAccepted(written))) {
      const why = step?.kind === 'unavailable' ? 'this version of gw cannot check' : 'gw checks itself';
      const found = step ? `an answer to '${id}', which ${why}` : `an answer to '${id}'`;
      const expected = step
        ? 'nothing, or accept: with reason and by'
        : questions.length === 0
          ? 'no answers: this checklist has no questions'
          : `the id of a question: ${questions.join(', ')}`;
      report([id], { found, expected, suggestion: step ? undefined : nearest(id, questions), at: 'key' });
    } else checkKind(step, written, report);
  }
}

function checkKind(step: Step, written: unknown, report: Report): void {
  const answer = isRecord(written) ? written.answer : written;
  const value = isRecord(written) ? written.value : typeof written === 'number' ? written : undefined;
  const at = (key: string) => (isRecord(written) && written[key] !== undefined ? [step.id, key] : [step.id]);
  if (step.kind === 'measure') {
    if (value === undefined && answer !== 'skip' && !isOnlyAccepted(written)) {
      report(at('answer'), { expected: `a number (${step.unit}), or skip` });
    } else if (value !== undefined && isRecord(written) && answer !== undefined) {
      report(at('answer'), { expected: 'only the value: a number is the answer' });
    } else if (typeof value === 'number' && !Number.isFinite(value)) {
      report(at('value'), { expected: 'a number that is finite' });
    }
  } else if (step.kind === 'confirm') {
    if (value !== undefined) report(at('value'), { expected: 'yes, no or skip: this is a question' });
    else if (isRecord(written) && answer === undefined && !isOnlyAccepted(written)) {
      report([step.id], { expected: 'an answer: yes, no or skip' });
    }
  }
}

function isOnlyAccepted(written: unknown): boolean {
  return isRecord(written) && Object.keys(written).length === 1 && written.accept !== undefined;
}

function tidy(written: z.infer<typeof answersSchema>, path: string): Answers {
  const answers = new Map<string, WrittenAnswer>();
  const approvals = new Map<string, Approval>();
  for (const [id, one] of Object.entries(written)) {
    const given = typeof one === 'string' ? { answer: one } : typeof one === 'number' ? { value: one } : one;
    const { accept } = given;
    if (accept) approvals.set(id, { reason: accept.reason, approvedBy: accept.by });
    if (isOnlyAccepted(given)) continue;
    answers.set(id, {
      answer: given.answer ?? 'yes',
      by: given.by ?? null,
      initials: given.initials ?? null,
      remark: given.remark ?? null,
      value: given.value ?? null,
      attachments: [],
      photos: [...(given.photo === undefined ? [] : [given.photo]), ...(given.photos ?? [])].map((photo) =>
        resolve(dirname(path), photo),
      ),
    });
  }
  return { answers, approvals };
}
