import { type Code, type CodeBook, type Feature, featureTexts, type Inspection } from '../../overlays/index.ts';
import { RawList } from '../../text/index.ts';
import type { InspectedFeature } from './inspect.result.ts';

/** The selected features for a result. */
export function featuresOf({ overlays, selected, codeBook }: Inspection): InspectedFeature[] {
  return selected.map((feature) => ({ ...readingOf(feature, codeBook), feature: overlays.rawOf(feature) }));
}

/** The same as JSON, each feature as in its source, since parsed numbers may have lost digits. */
export function exactFeaturesOf(inspection: Inspection): RawList {
  return new RawList(featureLines(inspection));
}

function* featureLines({ overlays, selected, codeBook }: Inspection): Generator<string> {
  const sourceOf = featureTexts(overlays);
  for (const feature of selected) {
    const reading = JSON.stringify(readingOf(feature, codeBook));
    yield `${reading.slice(0, -1)},"feature":${sourceOf(feature)}}`;
  }
}

type FeatureReading = Omit<InspectedFeature, 'feature'>;

function readingOf({ index, id, kind, name, shape, yaw, iconYaw, codes }: Feature, codeBook: CodeBook): FeatureReading {
  return {
    index,
    id,
    kind,
    name,
    xM: shape.kind === 'point' ? shape.at[0] : null,
    yM: shape.kind === 'point' ? shape.at[1] : null,
    yawDeg: yaw?.deg ?? null,
    iconYawDeg: iconYaw?.deg ?? null,
    codes: codes.map((code) => codeOf(code, codeBook)),
  };
}

function codeOf({ field, number }: Code, codeBook: CodeBook): FeatureReading['codes'][number] {
  if (number === null) return { field, number, mark: 'OFFEN', basis: 'not-shown' };
  const { mark, basis } = codeBook.meaning(field, number);
  return { field, number, mark, basis };
}
