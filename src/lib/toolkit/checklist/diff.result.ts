import { z } from 'zod';
import { recordSubjectSchema, signatureStateSchema } from './verify.result.ts';

const verdict = z.enum(['ok', 'wrong', 'skipped', 'not-checked']);
const deviation = z.strictObject({ reason: z.string(), approvedBy: z.string(), at: z.string() }).nullable();
const change = z.strictObject({ from: z.string().nullable(), to: z.string().nullable() });

const stepChange = z.strictObject({
  id: z.string(),
  title: z.string(),
  from: verdict.nullable().describe('null: the old record has no such step.'),
  to: verdict.nullable().describe('null: the new record has no such step.'),
  why: z.string().describe('Reason in the new record; in the old one for a step that is gone.'),
});

const measured = z.union([z.number(), z.string(), z.boolean()]).nullable();

const robotDiff = z.strictObject({
  serial: z.string(),
  site: change,
  presence: z.enum(['both', 'old-only', 'new-only']),
  software: change.describe('Version that a step read from the chassis; null: none did.'),
  newlyWrong: z.array(stepChange).describe('Wrong now, and not wrong or missing before.'),
  fixed: z.array(stepChange).describe('Ok now, and not ok before.'),
  lost: z.array(stepChange).describe('Ok before, and now skipped, not-checked or missing.'),
  otherwise: z.array(stepChange).describe('Every other verdict that differs, and steps that are new and ok.'),
  reasons: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        verdict,
        from: z.string().describe('Previous reason.'),
        to: z.string().describe('New reason.'),
      }),
    )
    .describe('Steps that are not ok in both records, with the same verdict and another reason.'),
  values: z
    .array(
      z.strictObject({
        step: z.string(),
        title: z.string(),
        name: z.string(),
        from: measured,
        to: measured,
        unit: change,
        mark: change,
        delta: z.number().nullable().describe('New minus old, where both are numbers of the same unit.'),
        counts: z
          .boolean()
          .describe(
            'false: a time, duration, age or id of a run, a folder, or a rate within 25 %, which differ at every run and are no change.',
          ),
      }),
    )
    .describe('Measured values that differ in value, unit or mark.'),
  deviations: z
    .array(
      z.strictObject({
        step: z.string(),
        title: z.string(),
        from: deviation,
        to: deviation,
        changed: z
          .array(z.enum(['accepted', 'withdrawn', 'reason', 'approved-by', 'verdict', 'finding', 'value']))
          .describe(
            'verdict, finding, value: the step has another result than when it was accepted. The time of acceptance is no change.',
          ),
      }),
    )
    .describe('Deviations that were accepted, withdrawn or changed.'),
  redLines: z.strictObject({
    added: z.array(z.strictObject({ id: z.string(), title: z.string(), detail: z.string() })),
    gone: z.array(z.strictObject({ id: z.string(), title: z.string(), detail: z.string() })),
    changed: z
      .array(z.strictObject({ id: z.string(), title: z.string(), from: z.string(), to: z.string() }))
      .describe('In both records, with different details.'),
  }),
  evidence: z
    .array(z.strictObject({ fact: z.string(), mark: change, verifiedHere: change }))
    .describe('Facts that the steps rely on, where mark or verification differ; null: not relied on.'),
});
export type RobotDiff = z.infer<typeof robotDiff>;

const side = z.strictObject({ path: z.string(), state: signatureStateSchema, subject: recordSubjectSchema });

/** Shape of `gw checklist diff --json`. */
export const recordDiffSchema = z.strictObject({
  from: side,
  to: side,
  same: z.boolean().describe('true when only values that differ at every run differ.'),
  worse: z
    .boolean()
    .describe('true when a step is newly wrong or no longer ok, a red line is new, or a robot is missing.'),
  versions: z.strictObject({ gw: change, checklist: change.describe('SHA-256 of the checklist file.') }),
  sameChecklist: z.boolean().describe('Whether both are of the same checklist, by name; its file may have changed.'),
  robots: z.array(robotDiff),
});
export type RecordDiff = z.infer<typeof recordDiffSchema>;
