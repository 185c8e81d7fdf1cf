/** A URL with a query or a fragment, which for a pre-signed one is a secret. */
const QUERY = /([a-z][a-z0-9+.-]*:\/\/[^\s?#]*)[?#][^\s]*/gi;

/** Plain data with the queries of all URLs in its texts removed. */
export function withoutQueries<T>(data: T): T {
  if (typeof data === 'string') return data.replace(QUERY, '$1') as T;
  if (Array.isArray(data)) return data.map(withoutQueries) as T;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withoutQueries(value)])) as T;
}
