/** A request for the routes. */
export interface RestRequest {
  readonly method: string;
  /** Without query and trailing slash. */
  readonly path: string;
  /** `http://host:port` of the robot, for the URLs in its replies. */
  readonly base: string;
  /** Parsed body; undefined without one or when it is not JSON. */
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

type Headers = Readonly<Record<string, string>>;

export type RestReply =
  | { readonly status: number; readonly json: unknown; readonly headers?: Headers }
  | {
      readonly status: number;
      readonly bytes: Buffer;
      readonly type: string;
      readonly flow?: 'slow' | 'cut';
    }
  | { readonly status: 204 };

export type Handler = (request: RestRequest, id: string) => RestReply;
/** The first group of the path is the handler's `id`. */
export type Route = readonly [method: string, path: RegExp, handler: Handler];

export const ok = (json: unknown): RestReply => ({ status: 200, json });
export const created = (json: unknown): RestReply => ({ status: 201, json });

/**
 * The body of an error: `{"detail": …}`, which the vendor's client reads first (HINWEIS). The texts are a project
 * decision; the vendor shows none.
 */
export const refuse = (status: number, text: string, headers?: Headers): RestReply => ({
  status,
  json: { detail: text },
  ...(headers && { headers }),
});
export const notFound = (what: string): RestReply => refuse(404, `${what} not found`);
/** For an endpoint of the vendor that is not simulated. Status 501 is a project decision. */
export const notSimulated = (what: string): RestReply => refuse(501, `not simulated by gw sim: ${what}`);
export const methodNotAllowed = (method: string, allowed: readonly string[]): RestReply =>
  refuse(405, `Method "${method}" not allowed.`, { Allow: allowed.join(', ') });

export function isReal(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e9;
}
