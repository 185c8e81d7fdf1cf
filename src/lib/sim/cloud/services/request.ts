import { isRecord } from '../../chassis/maps/map-store.ts';

/** The body of a request; undefined when it is not a JSON object in valid UTF-8. An empty body is an empty object. */
export function parseRequest(payload: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (payload.length === 0) return {};
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The client token of a request, also of an invalid one. */
export function tokenOf(body: Readonly<Record<string, unknown>> | undefined): { clientToken?: string } {
  return typeof body?.clientToken === 'string' ? { clientToken: body.clientToken } : {};
}

/** The first key that is not among these. */
export function unknownKey(body: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  return Object.keys(body).find((key) => !known.includes(key));
}
