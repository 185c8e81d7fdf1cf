import type { Feature, Overlays } from '../model.ts';
import { jsonOf, type Span } from './json-source.ts';

/** Returns the JSON source of a feature on one line: parsed numbers may have lost digits. */
export function featureTexts({ text, entries }: Overlays): (feature: Feature) => string {
  const sourceOf = ({ index }: Feature) => onOneLine(jsonOf(entries[index] as Span));
  return text.isWellFormed() ? sourceOf : (feature) => withEscapedSurrogates(sourceOf(feature));
}

/** JSON has line breaks between tokens only, never inside a string. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n][ \t\r\n]*/g, ' ') : json;
}

/** Escapes a lone surrogate inside a string, which UTF-8 cannot encode; the value stays the same. */
function withEscapedSurrogates(json: string): string {
  return json.replace(/\p{Surrogate}/gu, (surrogate) => `\\u${surrogate.charCodeAt(0).toString(16)}`);
}
