import { z } from 'zod';
import { checklistResultSchema, countsSchema, phases, redLineSchema } from '../../checklist/index.ts';

/** Summary of a record; only as reliable as its verification. */
export const recordSubjectSchema = z.strictObject({
  id: z.string(),
  edition: z.int(),
  checklist: z.string(),
  title: z.string(),
  phase: z.string().nullable(),
  technician: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  robots: z.array(z.strictObject({ site: z.string(), serial: z.string(), software: z.string().nullable() })),
  verdict: z.enum(['ok', 'accepted', 'wrong', 'incomplete']),
  simulated: z.boolean().describe('true: a robot of it was a simulator, so it is no acceptance.'),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), skipped: z.int(), notChecked: z.int() }),
  deviations: z.int(),
  redLines: z.int(),
});
export type RecordSubject = z.infer<typeof recordSubjectSchema>;

export const signatureStateSchema = z
  .enum(['verified', 'not-verified', 'wrong', 'not-signed'])
  .describe('Only verified is reliable. not-verified: no finding failed, but at least one could not be checked.');

/** Shape of `gw checklist verify --json`. */
export const recordVerifySchema = z.strictObject({
  path: z.string(),
  state: signatureStateSchema,
  signedBy: z.string().nullable().describe('Serial of the robot that the signature names; null when not signed.'),
  findings: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      verdict: z.enum(['ok', 'wrong', 'not-checked']),
      detail: z.string(),
    }),
  ),
  subject: recordSubjectSchema.nullable().describe('null when the file is not a record.'),
});
export type RecordVerify = z.infer<typeof recordVerifySchema>;

/** `gw checklist list`: the built-in checklists, and the checks that a checklist may name. */
export const checklistListSchema = z.strictObject({
  dir: z.string().describe('Folder of the built-in checklists.'),
  checklists: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      purpose: z.string(),
      phase: z.enum(phases).nullable(),
      sections: z.int(),
      runs: z.int().describe('Steps that gw checks itself.'),
      questions: z.int().describe('Questions to the technician.'),
      measurements: z.int().describe('Values that the technician measures.'),
      movesRobot: z.boolean(),
    }),
  ),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      summary: z.string(),
      moves: z.boolean(),
      options: z.array(z.strictObject({ name: z.string(), required: z.boolean(), description: z.string() })),
    }),
  ),
});
export type ChecklistList = z.infer<typeof checklistListSchema>;

/** Shape of `gw checklist init --json`. */
export const checklistInitSchema = z.strictObject({
  path: z.string().describe('The file that was created.'),
  name: z.string().describe('Name of the list, after which records are named.'),
});
export type ChecklistInit = z.infer<typeof checklistInitSchema>;

/** `gw checklist show`: what a checklist proves, step by step. */
export const checklistShowSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  purpose: z.string(),
  phase: z.enum(phases).nullable(),
  file: z.string(),
  sha256: z.string().describe('Of the bytes of the file; also in every record of it.'),
  sections: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      about: z.string().nullable(),
      needs: z.array(z.string()),
    }),
  ),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      proves: z.string(),
      section: z.string().nullable(),
      precondition: z.boolean().describe('true: unless it is ok, its whole section is skipped.'),
      kind: z.enum(['run', 'confirm', 'measure', 'unavailable']),
      run: z.string().nullable(),
      question: z.string().nullable(),
      instead: z
        .string()
        .nullable()
        .describe('Input with which gw checks this instead of asking: second-host or password.'),
      expires: z.boolean().describe('true: a later run asks it again before a step that needs it moves the robot.'),
      lacking: z.string().nullable().describe('Why this version of gw cannot check it.'),
      unit: z.string().nullable().describe('Of a value that the technician measures.'),
      needs: z.array(z.string()),
      facts: z.array(z.string()).describe('Facts of the ledger that it relies on.'),
      moves: z.boolean(),
      expects: z.array(z.strictObject({ path: z.string(), expected: z.string() })),
      remedy: z.string(),
    }),
  ),
});
export type ChecklistShow = z.infer<typeof checklistShowSchema>;

/** A prerequisite of steps that the site file lacks. */
const prerequisiteSchema = z.strictObject({
  serial: z.string().nullable().describe('The robot; null when its site file could not be read.'),
  key: z.string().describe('Key of the site file.'),
  what: z.string(),
  remedy: z.string(),
  steps: z.array(z.string()).describe('Ids of the steps that cannot be ok without it.'),
});
export type Prerequisite = z.infer<typeof prerequisiteSchema>;

/**
 * `gw checklist run`: the result, the record, and the report files that were written. Of several robots the steps
 * stand one after the other; their ids and titles then begin with the serial number.
 */
export const checklistRunSchema = checklistResultSchema.extend({
  robots: z.array(
    z.strictObject({
      site: z.string().nullable().describe('null when the site file could not be read.'),
      serial: z.string().nullable(),
      ok: z.boolean().describe('true only when every step of this robot is ok and there is no red line.'),
      counts: countsSchema,
      redLines: z.array(redLineSchema).describe('Blocking findings outside the steps, such as a tablet left open.'),
    }),
  ),
  deviations: z.int().describe('Number of steps that are not ok and were accepted by a named person.'),
  accepted: z.boolean().describe('true when everything is ok or an accepted deviation, without a red line.'),
  prerequisites: z
    .array(prerequisiteSchema)
    .describe('What the steps of this session need and the site file lacked at its start.'),
  leftOut: z.int().describe('Steps that --only or --from left out and no earlier session completed.'),
  resumed: z.boolean(),
  record: z
    .strictObject({
      file: z.string().describe('Absolute.'),
      id: z.string(),
      edition: z.int(),
      signedBy: z.string().nullable().describe('Serial of the robot whose device key signed; null: not signed.'),
      attachments: z.int(),
    })
    .nullable()
    .describe('null: not written, see the warnings.'),
  written: z.array(z.string()).describe('Report files, absolute.'),
});
export type ChecklistRun = z.infer<typeof checklistRunSchema>;

/** Shape of `gw checklist report --json`. */
export const recordReportSchema = z.strictObject({
  path: z.string(),
  lang: z.enum(['de', 'en']),
  format: z.enum(['html', 'pdf', 'md', 'junit']),
  state: signatureStateSchema,
  subject: recordSubjectSchema,
  document: z.string().nullable().describe('The report; null when it was written to a file.'),
  written: z
    .strictObject({ path: z.string(), bytes: z.int(), pages: z.int().nullable(), replacedCharacters: z.int() })
    .nullable(),
});
export type RecordReport = z.infer<typeof recordReportSchema>;

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
  device: change.describe(
    "'robot' or 'simulator', as a step read it; null: none did, or an older gw wrote the record.",
  ),
  newlyWrong: z.array(stepChange).describe('Wrong now, and not wrong or missing before.'),
  fixed: z.array(stepChange).describe('Ok now, and wrong before.'),
  nowChecked: z
    .array(stepChange)
    .describe('Ok now, and skipped or not checked before: whether anything was fixed is not known.'),
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
