import { z } from 'zod';
import { diffSchema, meaningSchema } from '../../overlays/schemas.ts';
import { fieldSchema, openedMapSchema, openedSourceSchema } from './inspect.result.ts';

const sideSchema = z.strictObject({ source: openedSourceSchema, map: openedMapSchema });

/** Shape of `gw overlays diff --json`. */
export const overlaysDiffSchema = z.strictObject({
  from: sideSchema.describe('The old side, the first argument.'),
  to: sideSchema.describe('The new side.'),
  diff: diffSchema,
  fields: z.record(z.string(), fieldSchema).describe('Unit, mark and source of every number with this key.'),
  codes: z.array(meaningSchema).describe('Every number that a code changed from or to, with all its readings.'),
  warnings: z.array(z.string()).describe('Limits of the comparison.'),
  document: z
    .string()
    .nullable()
    .describe('The requested document; null where it was written to a file or none was requested.'),
  written: z
    .strictObject({ format: z.enum(['svg', 'html']), path: z.string(), bytes: z.int() })
    .nullable()
    .describe('The written file; null when none was requested.'),
});
export type OverlaysDiffResult = z.infer<typeof overlaysDiffSchema>;
