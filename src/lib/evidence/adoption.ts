import { z } from 'zod';

/** What changed when a person adopted the evidence file. */
export const evidenceAdoptionSchema = z.strictObject({
  records: z.int().describe('Records of the file that count now.'),
  adopted: z.array(z.string()).describe('Facts with stronger evidence than before, on any device.'),
  revoked: z.array(z.string()).describe('Facts with weaker evidence than before.'),
});
