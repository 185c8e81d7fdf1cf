import { z } from 'zod';
import type { DeepReadonly } from '../../json/index.ts';

export interface CurrentFaults {
  /** Faults that are present now, by a key that stays the same while the fault does. */
  readonly present: readonly PresentFault[];
  /** Starts of the keys of faults that cannot be checked now: they are neither raised nor cleared. */
  readonly unchecked: readonly string[];
}

export const presentFaultSchema = z.strictObject({
  key: z.string().describe('`service.chassis`, `alert.1024`.'),
  text: z.string(),
  number: z.number().nullable().describe('Number of the chassis, passed through; null: none.'),
  mark: z.enum(['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN']),
});
export type PresentFault = Readonly<z.infer<typeof presentFaultSchema>>;

const telemetryViewSchema = z.strictObject({
  intervalS: z.number(),
  accepted: z.int().describe('Messages that the outbox accepted since the start of gw.'),
  skipped: z.int().describe('Messages that were not made, or that the outbox refused, since the start of gw.'),
  trouble: z.string().nullable().describe('Why the last one was skipped; null: none was since the last accepted one.'),
});
export type TelemetryView = Readonly<z.infer<typeof telemetryViewSchema>>;

const faultsViewSchema = z.strictObject({
  raised: z
    .array(
      presentFaultSchema.extend({
        faultId: z.string(),
        state: z
          .enum(['present', 'gone', 'not-checked'])
          .describe('not-checked: whether it is still present cannot be seen now.'),
        occurrences: z.int().describe('How often it appeared since it was raised.'),
      }),
    )
    .describe('Faults that the cloud has as raised, or will have.'),
  unreported: z.int().describe('Present faults that are not reported, because too many are raised.'),
  trouble: z.string().nullable().describe('Why something could not be reported or saved; null: nothing.'),
});
export type FaultsView = DeepReadonly<z.infer<typeof faultsViewSchema>>;

const shadowViewSchema = z.strictObject({
  status: z
    .enum(['accepted', 'not-answered', 'rejected', 'not-sent'])
    .describe(
      'Of the last update. not-answered: the outbox has it, and no answer came yet; a broker without a shadow service never answers.',
    ),
  detail: z.string(),
  version: z.int().nullable().describe('Of the newest accepted state; null: none since the start of gw.'),
  rejected: z
    .strictObject({ code: z.union([z.string(), z.number()]), message: z.string(), at: z.string() })
    .nullable()
    .describe('The last rejection since the last accepted state.'),
});
export type ShadowView = DeepReadonly<z.infer<typeof shadowViewSchema>>;

/** State of the reports of this robot to the cloud. */
export const reportingViewSchema = z.strictObject({
  telemetry: telemetryViewSchema,
  faults: faultsViewSchema,
  shadow: shadowViewSchema,
});
export type ReportingView = DeepReadonly<z.infer<typeof reportingViewSchema>>;
