/**
 * Plain data with the queries and fragments of all URLs in its texts removed, which of a pre-signed one are a secret. A text
 * of others may be long: each of its words is looked at once.
 */
export function withoutQueries<T>(data: T): T {
  if (typeof data === 'string') return (data.includes('://') ? data.replace(/\S+/g, withoutQuery) : data) as T;
  if (Array.isArray(data)) return data.map(withoutQueries) as T;
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withoutQueries(value)])) as T;
}

function withoutQuery(word: string): string {
  const at = word.indexOf('://');
  const length = at === -1 ? -1 : word.slice(at).search(/[?#]/);
  return length === -1 ? word : word.slice(0, at + length);
}
