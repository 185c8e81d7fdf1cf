import { isIP } from 'node:net';
import { z } from 'zod';

/**
 * What goes over the wire at an enrolment. The specification shows the path and nothing of the bodies, so every shape
 * here is a project decision; docs/enrolment.md has them byte for byte.
 * @source specification, 'Enrolment': POST /anmeldung at {enrolment_url}
 */
export const ENROLMENT_PATH = '/anmeldung';

export interface EnrolmentRequest {
  readonly serial: string;
  /** PKCS#10 in PEM. */
  readonly certificateRequest: string;
  /** null: none, the client certificate of the connection stands for the device. */
  readonly oneTimeCode: string | null;
  /** Whether the device asks for another identity in place of the one it has. */
  readonly renewal: boolean;
  readonly device: { readonly model: string | null; readonly software: string | null };
}

/** The members in this order, without blanks; without a code that member is missing. */
export function encodeRequest({ serial, certificateRequest, oneTimeCode, renewal, device }: EnrolmentRequest): string {
  const { model, software } = device;
  const code = oneTimeCode === null ? {} : { oneTimeCode };
  return JSON.stringify({ serial, certificateRequest, ...code, renewal, device: { model, software } });
}

/** The answer to an accepted request. Unknown members are ignored. */
export const answerSchema = z.object({
  certificate: z.string().max(32_768),
  ca: z.string().max(32_768),
  endpoint: z.string().max(253).refine(isHost),
  region: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/),
});
export type EnrolmentAnswer = z.infer<typeof answerSchema>;

/** The body of a refusal; missing members are omitted. */
export const refusalSchema = z.object({
  error: z.object({ code: z.string().optional().catch(undefined), message: z.string().optional().catch(undefined) }),
});

/** Upper bound of a common name. @source X.520 */
export const MAX_SERIAL = 64;

/** Why a one-time code is invalid; undefined when it is valid. Its format is defined by the operator. */
export function codeProblem(code: string): string | undefined {
  if (code === '') return 'it is empty';
  if (code.length > 256) return 'it is longer than 256 characters';
  return /^[\x21-\x7e]+$/.test(code) ? undefined : 'it has characters other than printable ASCII';
}

function isHost(text: string): boolean {
  if (isIP(text) !== 0) return !text.includes('%');
  return /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*(?!\d+$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(
    text,
  );
}
