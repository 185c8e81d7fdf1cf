import { isTimeZone } from '../site/index.ts';
import type { Language } from './document.ts';

/** How a document writes times, durations and numbers. */
export interface Locale {
  /** `21.11.2026, 10:03 MEZ`, for a time in ISO 8601. */
  readonly moment: (iso: string) => string;
  /** `21. November 2026`. */
  readonly day: (date: Date) => string;
  /** `12,5 Sekunden`; whole minutes from one on, and hours. */
  readonly duration: (ms: number) => string;
  readonly number: (value: number) => string;
  /** A measured value with all of its digits, by the decimal sign of the language. */
  readonly figure: (value: string) => string;
}

const tags: Readonly<Record<Language, string>> = { de: 'de-DE', en: 'en-GB' };

/** By the rules of the language, in this time zone (IANA name); in UTC where the zone is none, as in a foreign file. */
export function localeOf(lang: Language, timeZone: string): Locale {
  const tag = tags[lang];
  const zone = isTimeZone(timeZone) ? timeZone : 'UTC';
  const moments = new Intl.DateTimeFormat(tag, {
    ...{ day: '2-digit', month: '2-digit', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    ...{ timeZone: zone, timeZoneName: 'short' },
  });
  const days = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: zone });
  const numbers = new Intl.NumberFormat(tag);
  const unit = (value: number, name: 'second' | 'minute' | 'hour', digits = 0) =>
    new Intl.NumberFormat(tag, {
      style: 'unit',
      unit: name,
      unitDisplay: 'long',
      maximumFractionDigits: digits,
    }).format(value);
  return {
    moment: (iso) => {
      const time = Date.parse(iso);
      return Number.isNaN(time) ? iso : moments.format(time);
    },
    day: (date) => days.format(date),
    duration: (ms) => {
      if (ms < 60_000) return unit(ms / 1_000, 'second', 1);
      const minutes = Math.round(ms / 60_000);
      const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
      if (hours === 0) return unit(minutes, 'minute');
      return rest === 0 ? unit(hours, 'hour') : `${unit(hours, 'hour')} ${unit(rest, 'minute')}`;
    },
    number: (value) => numbers.format(value),
    figure: (value) => (lang === 'de' ? value.replace(/^(-?\d+)\.(\d)/, '$1,$2') : value),
  };
}
