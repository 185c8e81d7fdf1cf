import type { LiveValue, StaleReason } from '../../chassis/index.ts';
import { markTextDe } from '../../evidence/index.ts';
import { spanText } from './number-text.ts';

export type LiveKey = 'pose' | 'heading' | 'battery' | 'positioning' | 'wheels' | 'planning' | 'alerts' | 'map';

const staleTexts: Readonly<Record<StaleReason, string>> = {
  'no-connection': 'veraltet, keine Verbindung zum Roboter',
  'not-received-since-reconnect': 'veraltet, seit der neuen Verbindung nicht empfangen',
  'too-old': 'veraltet',
  'newer-rejected': 'unsicher, die neueste Meldung ist fehlerhaft',
};

/** One value with its age, its evidence mark and the reasons why it is not reliable. */
export function liveTexts<K extends LiveKey, T>(
  key: K,
  value: LiveValue<T>,
  write: (value: T) => string,
  doubt: string | null = null,
  part?: string,
): Record<K | `${K}.age` | `${K}.mark` | `${K}.doubt`, string> {
  const texts = (text: string, age: string, mark: string, why: string) =>
    ({ [key]: text, [`${key}.age`]: age, [`${key}.mark`]: mark, [`${key}.doubt`]: why }) as Record<
      K | `${K}.age` | `${K}.mark` | `${K}.doubt`,
      string
    >;
  if (value.status === 'not-received') {
    return texts(value.rejected === undefined ? 'noch nicht empfangen' : 'nicht lesbar', '', '', '');
  }
  const evidence = (part === undefined ? undefined : value.parts?.[part]) ?? value;
  const stale = value.stale ? staleTexts[value.staleReason ?? 'too-old'] : null;
  const why = [doubt, stale].filter((reason) => reason !== null).join('; ');
  const marked = `${markTextDe(evidence)}: ${evidence.source}`;
  return texts(write(value.value), `vor ${spanText(value.ageMs)}`, marked, why === '' ? '' : `${why}:`);
}
