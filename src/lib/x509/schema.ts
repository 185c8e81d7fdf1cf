import { z } from 'zod';

/** What is shown of a certificate. The names are untrusted text. */
export const certificateViewSchema = z.strictObject({
  subject: z.string().describe('One line, the narrowest part first (RFC 4514).'),
  issuer: z.string(),
  notBefore: z.string().describe('UTC.'),
  notAfter: z.string().describe('UTC.'),
  fingerprintSha256: z.string().describe('Upper case hex pairs with colons.'),
});
