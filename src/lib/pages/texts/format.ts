import { isolated, type Title, titleIn } from '../../text/index.ts';
import type { Language } from '../viewer.ts';

/** Who reads: technicians get the key of a place with its title, since commands take keys. */
export type Reader = 'staff' | 'technician';

export interface Format {
  /** A place, a tour or a map for the middle of a sentence: its title in this language, without one its key. */
  readonly named: (name: string, title?: Title) => string;
  /** A title that stands beside no key, for the middle of a sentence. */
  readonly titled: (title: Title) => string;
  /** A place or a tour alone, as a label. */
  readonly label: (name: string, title?: Title) => string;
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
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

const formats = new Map<string, Format>();

export function formatFor(language: Language, timeZone: string, reader: Reader = 'staff'): Format {
  const key = `${language} ${reader} ${timeZone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = create(language, timeZone, reader);
    formats.set(key, format);
  }
  return format;
}

/**
 * Numbers are written here, and the formatter of times is made when it is first used: a slow tablet takes a tenth of a
 * second for the first formatter of each kind, before its page can be used (measured).
 */
function create(language: Language, timeZone: string, reader: Reader): Format {
  const moment = once(() => dateFormat(language === 'de' ? 'de-DE' : 'en-GB', timeZone));
  const number = (value: number, digits: number) => {
    const text = value.toFixed(digits);
    const signed = Number(text) === 0 ? text.replace('-', '') : text;
    return language === 'de' ? signed.replace('.', ',') : signed;
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
  const labelOf = (show: (text: string) => string) => (name: string, title?: Title) => {
    const shown = titleIn(title ?? name, language);
    return reader === 'technician' && shown !== name ? `${show(shown)} (${name})` : show(shown);
  };
  return {
    named: labelOf(isolated),
    titled: (title) => isolated(titleIn(title, language)),
    label: labelOf((text) => text),
    number,
    span,
    size,
    seconds: (ms) => span(ms, 0),
    time(iso) {
      const ms = Date.parse(iso);
      return Number.isFinite(ms) ? moment().format(ms) : iso;
    },
  };
}

function dateFormat(locale: string, timeZone: string): Intl.DateTimeFormat {
  const options = { dateStyle: 'medium', timeStyle: 'medium' } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone });
  } catch {
    // A browser may not know the zone of the gateway.
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
