const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const preferred = /^(?<day>[A-Z][a-z]{2}), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/**
 * Reads the preferred form of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, whole seconds, always GMT). Null for
 * everything else, also for the two obsolete forms and for a day of the week that does not belong to the date: a
 * clock that is compared with a misread date would be called wrong.
 */
export function parseHttpDate(text: string): Date | null {
  const match = preferred.exec(text);
  if (match === null) return null;
  const [, weekday = '', day = '', monthName = '', year = '', hours = '', minutes = '', seconds = ''] = match;
  const month = MONTHS.indexOf(monthName);
  if (month < 0 || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 60) return null;
  const date = new Date(0);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(Number(year), month, Number(day));
  if (date.getUTCMonth() !== month || date.getUTCDate() !== Number(day)) return null;
  if (DAYS[date.getUTCDay()] !== weekday) return null;
  date.setUTCHours(Number(hours), Number(minutes), Number(seconds));
  return date;
}

/** The head of an HTTP/1.x answer: its status, and its header lines by name in lower case, the first of each. */
export interface HttpHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** More than any server sends before a body; what is longer is no head. */
export const HEAD_MOST_BYTES = 32 * 1024;

/**
 * Reads the head of an answer from the bytes that have come so far. 'unfinished' while the empty line is missing;
 * null when it is not HTTP/1.x or too long. Lines that are no header lines are left out.
 */
export function parseHttpHead(bytes: Uint8Array): HttpHead | 'unfinished' | null {
  const text = Buffer.from(bytes.subarray(0, HEAD_MOST_BYTES)).toString('latin1');
  if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return null;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return bytes.length >= HEAD_MOST_BYTES ? null : 'unfinished';
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
