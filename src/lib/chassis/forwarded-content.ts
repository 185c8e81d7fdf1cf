import { checkJson, problemOfFinding } from '../json/index.ts';
import { isPng } from '../png/index.ts';
import { mapBounds } from './transport.ts';

/** What forwarded bytes are, or why they are not forwarded. */
export type ForwardedContent =
  | { readonly kind: 'json' | 'png'; readonly problem?: undefined }
  | { readonly kind?: undefined; readonly problem: string };

/**
 * Only JSON and PNG pass: a page of a foreign device must not reach a browser under the name of the gateway. Told by
 * the bytes, whatever they were called, and without making anything of them: a map of 32 MiB can stand for eleven
 * million objects.
 */
export async function contentOf(body: Uint8Array): Promise<ForwardedContent> {
  if (isPng(body)) return { kind: 'png' };
  if (body[0] === LESS_THAN) return { problem: 'answered with HTML instead of JSON' };
  const problem = problemOfFinding(await checkJson(body, mapBounds), mapBounds);
  return problem === null ? { kind: 'json' } : { problem };
}

const LESS_THAN = 0x3c;
