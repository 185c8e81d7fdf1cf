const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const preferred = /^(?<day>[A-Z][a-z]{2}), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/**
 * Parses the preferred form of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, whole seconds, always GMT). Null for
 * everything else, also for the two obsolete forms and for a wrong day of the week, because a misread date would make a
 * correct clock look wrong.
 */
export function parseHttpDate(text: string): Date | null {
  const match = preferred.exec(text);
  if (match === null) return null;
  const [, weekday = '', day = '', monthName = '', year = '', hours = '', minutes = '', seconds = ''] = match;
  const month = MONTHS.indexOf(monthName);
  if (month < 0 || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const date = new Date(0);
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(Number(year), month, Number(day));
  if (date.getUTCMonth() !== month || date.getUTCDate() !== Number(day)) return null;
  if (DAYS[date.getUTCDay()] !== weekday) return null;
  date.setUTCHours(Number(hours), Number(minutes), Number(seconds));
  return date;
}

/** Status and header fields of an HTTP/1.x response; names in lower case, the first value of each. */
export interface HttpHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Project decision: a longer response head is rejected. */
export const MAX_HEAD_BYTES = 32 * 1024;

/**
 * Parses the head of a response from the bytes received so far. 'unfinished' while the empty line is missing; null when
 * it is not HTTP/1.x or too long. Invalid header lines are skipped.
 */
export function parseHttpHead(bytes: Uint8Array): HttpHead | 'unfinished' | null {
  const text = Buffer.from(bytes.subarray(0, MAX_HEAD_BYTES)).toString('latin1');
  if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return null;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return bytes.length >= MAX_HEAD_BYTES ? null : 'unfinished';
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    const name = match?.[1]?.toLowerCase();
    if (name !== undefined && !headers.has(name)) headers.set(name, match?.[2] ?? '');
  }
  return { status: Number(status), headers };
}
