import { checkJson, problemOfFinding } from '../json/index.ts';
import { isPng } from '../png/index.ts';
import { mapBounds } from './transport.ts';

/** Content type of forwarded bytes, or why they are not forwarded. */
export type ForwardedContent =
  | { readonly kind: 'json' | 'png'; readonly problem?: undefined }
  | { readonly kind?: undefined; readonly problem: string };

/**
 * Only JSON and PNG pass: a page of a foreign device must not reach a browser from the origin of the gateway. Decided
 * by the bytes and not by Content-Type, without building objects: a map of 32 MiB can hold eleven million.
 */
export async function contentOf(body: Uint8Array): Promise<ForwardedContent> {
  if (isPng(body)) return { kind: 'png' };
  if (body[0] === LESS_THAN) return { problem: 'answered with HTML instead of JSON' };
  const problem = problemOfFinding(await checkJson(body, mapBounds), mapBounds);
  return problem === null ? { kind: 'json' } : { problem };
}

const LESS_THAN = 0x3c;
