import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

/** Shape of `gw site check --json`. */
export const siteCheckSchema = z.strictObject({
  path: z.string(),
  valid: z.boolean().describe('true: no problems and no wrong findings.'),
  verdict: checkVerdictSchema,
  errors: z.int().describe('Number of problems and wrong findings.'),
  problems: z
    .array(
      z.strictObject({
        line: z.int().nullable(),
        column: z.int().nullable(),
        key: z.string(),
        found: z.string(),
        expected: z.string(),
        suggestion: z.string().nullable(),
      }),
    )
    .describe('Problems in the file itself.'),
  findings: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        verdict: lineSchema.shape.verdict,
        detail: z.string(),
        remedy: z.string().nullable(),
      }),
    )
    .describe('Checks of the files and folders that it names.'),
  completeFor: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        missing: z
          .array(z.strictObject({ key: z.string(), what: z.string(), remedy: z.string() }))
          .describe('Empty: complete for it.'),
      }),
    )
    .describe('What the commands for each purpose need of it, as the checklists ask; empty when it is invalid.'),
  passwordId: z
    .string()
    .nullable()
    .describe(
      'Beginning of the SHA-256 of the salted hash of the device password: the same while no other one is set. null: none is set, or its file cannot be read.',
    ),
});
export type SiteCheck = z.infer<typeof siteCheckSchema>;

/** Shape of `gw site init --json`. */
export const siteInitSchema = z.strictObject({
  path: z.string().describe('The written file.'),
  name: z.string(),
  host: z.string(),
  serial: z.string(),
  mac: z.string().nullable(),
  operatorPort: z.int(),
  read: z
    .strictObject({
      address: z.string(),
      at: z.iso.datetime().describe('Wall clock, UTC.'),
      serial: z.string(),
      model: z.string().nullable(),
      software: z.string().nullable(),
      maps: z.array(z.strictObject({ id: z.string(), name: z.string(), isCurrent: z.boolean() })),
      points: z.int().describe('Points of the current map, in the file as comments: candidates for stations.'),
    })
    .nullable()
    .describe('What the chassis said of itself (HINWEIS); null when it was not read.'),
});
export type SiteInit = z.infer<typeof siteInitSchema>;

/** Shape of `gw site map --json`. */
export const siteMapSchema = z.strictObject({
  path: z.string().describe('The site file.'),
  serial: z.string(),
  verdict: z
    .enum(['written', 'unchanged', 'to-confirm'])
    .describe('to-confirm: nothing was written, since no person has confirmed where the places were measured.'),
  key: z.string().describe('Key in `maps`.'),
  map: z
    .strictObject({
      uid: z.string(),
      version: z.int().nullable(),
      id: z.string(),
      title: z.string().nullable(),
    })
    .describe('The current map, as the chassis reports it (HINWEIS).'),
  before: z
    .strictObject({
      version: z.int().nullable(),
      robot: z.string().nullable().describe('With which the places were measured; null: not named.'),
    })
    .nullable()
    .describe('What the site file said of this map; null: it did not name it.'),
  places: z.array(z.string()).describe('Stations and dock that count on this map.'),
});
export type SiteMap = z.infer<typeof siteMapSchema>;
