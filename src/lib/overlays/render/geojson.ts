import type { Feature, Inspection, Overlays } from '../model.ts';
import { jsonOf, type Span } from '../read/json-source.ts';
import { numbersOf, rulesByFeature } from './page/census.ts';

/**
 * The selected features as GeoJSON: every feature as in its source, with one additional member `gw` for the values that
 * gw read. Common data (meaning of the coordinates, frame, every reading of every number, findings) is given once, beside
 * `features`. Where the collection uses the name `gw` itself, the additional member is `gwReading`. Coordinates stay
 * metres on the map, unlike in RFC 7946, so a viewer of world maps shows them in the wrong place.
 */
export function toGeojson(inspection: Inspection): string {
  const { selected, overlays, findings, frame } = inspection;
  const memberName = freeName(inspection);
  const rulesOf = rulesByFeature(inspection);
  const about = {
    coordinates: 'metres on the map, x and y; not longitude and latitude',
    frame,
    features: overlays.features.length,
    selected: selected.length,
    notFeatures: overlays.notFeatures,
    codes: numbersOf(inspection).map(({ meaning, count }) => ({ ...meaning, count })),
    findings,
  };
  const textOf = featureTexts(overlays);
  const features = selected.map((feature) =>
    withMember(textOf(feature), memberName, readingOf(feature, inspection, [...(rulesOf.get(feature.index) ?? [])])),
  );
  const members = Object.entries(overlays.topLevel).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},\n`,
  );
  return `{"type":"FeatureCollection",\n${members.join('')}"${memberName}":${JSON.stringify(about)},\n"features":[\n${features.join(',\n')}\n]}\n`;
}

function readingOf(feature: Feature, { codeBook }: Inspection, findings: readonly string[]) {
  return {
    index: feature.index,
    kind: feature.kind,
    yawDeg: feature.yaw?.deg ?? null,
    iconYawDeg: feature.iconYaw?.deg ?? null,
    codes: feature.codes.map(({ field, number }) => ({
      field,
      number,
      mark: number === null ? null : codeBook.meaning(field, number).mark,
      basis: number === null ? null : codeBook.meaning(field, number).basis,
    })),
    findings,
  };
}

/** Appends a member to the source text of a feature, without parsing foreign content. */
function withMember(text: string, name: string, value: unknown): string {
  const member = `"${name}":${JSON.stringify(value)}`;
  const inner = text.slice(1, -1).trim();
  return inner === '' ? `{${member}}` : `{${inner},${member}}`;
}

function freeName({ overlays }: Inspection): string {
  const isTaken = (name: string) =>
    Object.hasOwn(overlays.topLevel, name) ||
    overlays.members.some((member) => member.in === 'feature' && member.name === name);
  const names = ['gw', 'gwReading', 'gwReading2', 'gwReading3', 'gwReading4'];
  return names.find((name) => !isTaken(name)) ?? `gwReading-${overlays.features.length}-${overlays.text.length}`;
}

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
