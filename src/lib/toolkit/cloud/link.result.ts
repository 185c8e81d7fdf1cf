import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';
import { cloudStatusWord } from './view.result.ts';

/** The check 'cloud link' of a checklist. */
export const cloudLinkSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong when a finding is, or when it is not connected.'),
  status: cloudStatusWord,
  path: z.enum(['direct', 'fallback']).nullable().describe('null while not connected.'),
  host: z.string().nullable(),
  port: z.int().nullable(),
  tls: z.string().nullable(),
  fingerprintSha256: z.string().nullable().describe('Of the certificate that the link uses.'),
  waitedMs: z.number(),
  findings: z.array(findingSchema),
});
export type CloudLinkCheck = z.infer<typeof cloudLinkSchema>;
