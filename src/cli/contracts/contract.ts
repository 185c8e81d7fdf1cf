import type { ZodObject, ZodType } from 'zod';
import type { AnsweredCode } from '../../lib/operator/index.ts';

/** What one route accepts and answers, beyond its row of the route table. */
export interface Contract {
  /** Name of the operation. */
  readonly id: string;
  readonly description?: string;
  readonly query?: ZodObject;
  /** 'upload': multipart/form-data with one file. */
  readonly body?: ZodType | 'upload';
  /** The body may be left out. */
  readonly bodyIsOptional?: true;
  /** Also for forms of pages without script: an HTML form as the body, and a redirect or a page as the answer. */
  readonly form?: Answer;
  /** 'optional': whether it is needed depends on the site file and on the order. */
  readonly signIn?: 'optional';
  /** A Range of one part is answered with 206; any other is ignored. */
  readonly ranges?: true;
  /** The answer of a request that succeeds. */
  readonly status?: 200 | 201 | 202;
  readonly answer: Answer;
  /** What this route refuses itself; those of the route table come from there. */
  readonly refusals?: readonly AnsweredCode[];
}

export type Answer =
  | { readonly kind: 'json'; readonly schema: ZodType; readonly description: string }
  /** JSON of another device, which is not interpreted. */
  | { readonly kind: 'forwarded'; readonly from: string }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly description: string }
  | { readonly kind: 'redirect'; readonly to: string };

export const json = (schema: ZodType, description: string): Answer => ({ kind: 'json', schema, description });
export const forwarded = (from: string): Answer => ({ kind: 'forwarded', from });
export const bytes = (contentType: string, description: string): Answer => ({
  kind: 'bytes',
  contentType,
  description,
});
export const page = (description: string): Answer => bytes('text/html', description);
export const redirect = (to: string): Answer => ({ kind: 'redirect', to });
