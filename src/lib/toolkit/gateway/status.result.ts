import { z } from 'zod';
import { headlineCodes, lampIds, lampLevels } from '../../pages/index.ts';
import { linkSchema } from '../chassis/chassis.result.ts';
import { signatureStateSchema } from '../checklist/checklist.result.ts';
import { checkVerdictSchema } from '../finding.result.ts';

const utc = z.string().describe('UTC, for people.');
const ageMs = z.number().nullable();

const partSchema = z.strictObject({
  id: z.enum(lampIds),
  level: z.enum(lampLevels).describe("'unknown' is not checked; 'off': not set up here."),
  title: z.string(),
  state: z.string().describe('In words, with the ages that the gateway knows.'),
  details: z.array(z.string()).describe('What is wrong with it, in words; of the devices, the last look at each.'),
  remedies: z.array(z.string()),
});

/** `gw status --json`, and each line of `gw status --watch --json`. */
export const statusSchema = z.strictObject({
  verdict: checkVerdictSchema.describe(
    'wrong: not connected, stopped, locked, restricted, or a part fails. not-checked: a part that is set up is not, or no gateway answered.',
  ),
  at: utc.describe('When it was asked, by the clock of this machine.'),
  source: z
    .enum(['gateway', 'chassis'])
    .describe('chassis: no gateway answered, and only the chassis itself was looked at. Nothing is remembered.'),
  way: z.string().describe('Connection path: direct, or through another host.'),
  ssh: linkSchema.describe('Round trips of the SSH connection; null: direct, or not measured.'),
  headline: z.string().describe('The state in words.'),
  code: z.enum(headlineCodes).nullable().describe('null: no gateway answered.'),
  notes: z.array(z.string()),
  mayDrive: z.enum(['yes', 'no', 'not-checked']).describe('Whether the motion gate of the running gateway is open.'),
  site: z.strictObject({
    name: z.string(),
    serial: z.string().describe('As the site file of the gateway expects it.'),
  }),
  robot: z
    .strictObject({
      serial: z.string().nullable(),
      model: z.string().nullable(),
      software: z.string().nullable(),
      from: z
        .enum(['connection', 'remembered', 'asked-now'])
        .describe('connection: read when the running connection began. remembered: of an earlier connection.'),
      ageMs: ageMs.describe('Since it was read; null: longer than the gateway knows.'),
    })
    .nullable()
    .describe('As the chassis reported it; null: not read.'),
  chassis: z.strictObject({
    state: z.string(),
    tried: z.string(),
    forMs: ageMs.describe('For how long it has this state; null: not known.'),
    detail: z.string().nullable(),
  }),
  stop: z
    .strictObject({
      latched: z.boolean(),
      by: z.string().nullable(),
      reason: z.string().nullable(),
      since: z.string().nullable(),
      ageMs: ageMs.describe('By the clock of the gateway; null: not set, or that clock was set since.'),
      saved: z.union([z.boolean(), z.literal('pending')]),
    })
    .nullable()
    .describe('null: not checked.'),
  gate: z
    .strictObject({
      isOpen: z.boolean(),
      reasons: z.array(z.string()),
      lacks: z.array(z.string()).describe('Facts that are not verified on this robot.'),
    })
    .nullable()
    .describe('null: not checked.'),
  battery: z
    .strictObject({
      percent: z.number().nullable(),
      status: z.string().nullable(),
      ageMs,
      doubt: z.string().nullable().describe('Why it is not a current value; null: it is.'),
    })
    .nullable()
    .describe('null: not checked.'),
  run: z.string().nullable().describe('The running or last drive in words.'),
  parts: z.array(partSchema),
  gateway: z
    .strictObject({
      version: z.string().nullable(),
      upFor: z.string().nullable().describe('In words.'),
      clockAheadMs: z
        .number()
        .nullable()
        .describe('Of the clock of this machine, up to the time of one request; null: it reports no time.'),
    })
    .nullable()
    .describe('null: none answered.'),
  incidents: z
    .strictObject({
      status: z.enum(['listed', 'not-checked']),
      count: z.int().nullable().describe('Since the last record, or of all that are kept; null: not checked.'),
      since: z.string().nullable().describe('Time of that record; null: of all that are kept.'),
      newest: z.strictObject({ id: z.int(), at: utc, ageMs, summary: z.string() }).nullable(),
      detail: z.string().nullable(),
    })
    .describe('What the gateway keeps of stops, faults, lost links and failed moves.'),
  record: z
    .strictObject({
      status: z.enum(['found', 'none', 'not-checked']),
      folder: z.string(),
      path: z.string().nullable(),
      endedAt: z.string().nullable(),
      ageMs: ageMs.describe('Negative: in the future by the clock of this machine.'),
      signature: signatureStateSchema.nullable(),
      detail: z.string(),
    })
    .describe('The newest record of a checklist for this robot in the state folder of this machine.'),
  remedies: z.array(z.string()),
});
export type Status = z.infer<typeof statusSchema>;
export type StatusPart = z.infer<typeof partSchema>;
