import type { Feature, Overlays } from '../model.ts';
import { jsonOf, type Span } from './json-source.ts';

/** Gives the source of a feature on one line: parsed numbers may have lost digits. */
export function featureTexts({ text, entries }: Overlays): (feature: Feature) => string {
  const sourceOf = ({ index }: Feature) => onOneLine(jsonOf(entries[index] as Span));
  return text.isWellFormed() ? sourceOf : (feature) => withEscapedHalves(sourceOf(feature));
}

/** In JSON line breaks stand between its tokens only, never inside of a text. */
function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n][ \t\r\n]*/g, ' ') : json;
}

/** Half a surrogate pair, which UTF-8 cannot write, stands inside of a text: escaped it says the same. */
function withEscapedHalves(json: string): string {
  return json.replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}
