import { z } from 'zod';
import { nearest, parseDocument, type Report, readDocument } from '../document/index.ts';
import type { Checklist } from './load.ts';

/** What a technician answered to a question of a checklist. */
export interface Answer {
  readonly answer: 'yes' | 'no' | 'skip';
  readonly by: string | null;
  readonly remark: string | null;
}

export type Answers = ReadonlyMap<string, Answer>;

const word = z.enum(['yes', 'no', 'skip']);
const text = z.string().min(1).max(500);
const answersSchema = z.record(
  z.string(),
  z.union([word, z.strictObject({ answer: word, by: text.optional(), remark: text.optional() })]),
);

const ANSWERS_MAX_BYTES = 256 * 1024;

/**
 * Reads the answers to a checklist's questions: step id to yes, no, skip or `{answer, by, remark}`. Throws
 * ANSWERS_INVALID with every problem; an answer that fits no question is one.
 */
export function parseAnswers(text: string | Uint8Array, file: string, checklist: Checklist): Answers {
  return tidy(parseDocument({ ...rules(checklist), text, file }));
}

export async function loadAnswers(path: string, checklist: Checklist): Promise<Answers> {
  return tidy(await readDocument({ ...rules(checklist), path }));
}

function rules(checklist: Checklist) {
  return {
    schema: answersSchema,
    maxBytes: ANSWERS_MAX_BYTES,
    error: 'ANSWERS_INVALID',
    check: (value: unknown, report: Report) => checkIds(value, checklist, report),
  } as const;
}

function checkIds(value: unknown, checklist: Checklist, report: Report): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const questions = checklist.steps.filter((step) => step.kind === 'confirm').map((step) => step.id);
  for (const id of Object.keys(value)) {
    if (questions.includes(id)) continue;
    const isRun = checklist.steps.some((step) => step.id === id);
    const found = isRun ? `an answer to '${id}', which gw checks itself` : `an answer to '${id}'`;
    const expected =
      questions.length === 0
        ? 'no answers: this checklist asks nothing'
        : `the id of a question: ${questions.join(', ')}`;
    report([id], { found, expected, suggestion: isRun ? undefined : nearest(id, questions), at: 'key' });
  }
}

function tidy(file: z.infer<typeof answersSchema>): Answers {
  return new Map(
    Object.entries(file).map(([id, written]) => {
      const { answer, by, remark } = typeof written === 'string' ? { answer: written } : written;
      return [id, { answer, by: by ?? null, remark: remark ?? null }];
    }),
  );
}
