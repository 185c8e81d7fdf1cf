import { z } from 'zod';
import { checklistResultSchema, countsSchema, phases, redLineSchema } from '../../checklist/index.ts';

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
