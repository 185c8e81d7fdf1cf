import type { Language } from '../viewer.ts';

export interface Format {
  /** A number with this many decimals; zero has no sign. */
  readonly number: (value: number, digits: number) => string;
  /** `0,4 s`, `45 s`, `12 min`, `5 h`: number and unit stay on one line. */
  readonly span: (ms: number) => string;
  /** The same in whole seconds: what counts up before the eyes of a person. */
  readonly seconds: (ms: number) => string;
  /** `12,3 MB`, `200 MB`, in powers of ten: number and unit stay on one line. */
  readonly size: (bytes: number) => string;
  /** Date and time of an ISO time in the time zone of the gateway; other text is returned unchanged. */
  readonly time: (iso: string) => string;
  /** Hours and minutes. */
  readonly clock: (iso: string) => string;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

const formats = new Map<string, Format>();

export function formatFor(language: Language, timeZone: string): Format {
  const key = `${language} ${timeZone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = create(language === 'de' ? 'de-DE' : 'en-GB', timeZone);
    formats.set(key, format);
  }
  return format;
}

function create(locale: string, timeZone: string): Format {
  const zone = knownZone(timeZone);
  const numbers = [0, 1, 2, 3].map(
    (digits) =>
      new Intl.NumberFormat(locale, {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
        signDisplay: 'negative',
        useGrouping: false,
      }),
  );
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone });
  const short = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone: zone });
  const number = (value: number, digits: number) => numbers[digits]?.format(value) ?? value.toFixed(digits);
  const at = (format: Intl.DateTimeFormat) => (iso: string) => {
    const ms = Date.parse(iso);
    return Number.isFinite(ms) ? format.format(ms) : iso;
  };
  const span = (ms: number, digits = 1) => {
    const s = Math.max(0, ms) / 1000;
    if (s < 10) return `${number(digits === 0 ? Math.floor(s) : s, digits)}\u00a0s`;
    if (s < 120) return `${Math.floor(s)}\u00a0s`;
    if (s < 120 * 60) return `${Math.floor(s / 60)}\u00a0min`;
    return `${Math.floor(s / 3600)}\u00a0h`;
  };
  const size = (bytes: number) => {
    let [value, at] = [bytes, 0];
    for (; value >= 999.5 && at < units.length - 1; at += 1) value /= 1000;
    return `${number(value, at === 0 || value >= 99.95 ? 0 : 1)}\u00a0${units[at]}`;
  };
  return {
    number,
    span,
    size,
    seconds: (ms) => span(ms, 0),
    time: at(full),
    clock: at(short),
  };
}

/** A browser may not know the zone of the gateway. */
function knownZone(timeZone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return timeZone;
  } catch {
    return 'UTC';
  }
}
