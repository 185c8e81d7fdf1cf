import { RawList } from '../json/index.ts';
import { type Code, type CodeBook, type Drawing, featureTexts, type Inspection } from '../overlays/index.ts';
import type { InspectedFeature } from './overlays-inspect.result.ts';

/** The selected features as a result has them. */
export function featuresOf(inspection: Inspection): InspectedFeature[] {
  const { overlays, selected, codeBook } = inspection;
  const readingOf = createReader(codeBook);
  return selected.map((drawing) => ({ ...readingOf(drawing), feature: overlays.rawOf(drawing) }));
}

/** The same as JSON, each feature as its source has it: parsed numbers may have lost digits. */
export function exactFeaturesOf(inspection: Inspection): RawList {
  return new RawList(featureLines(inspection));
}

function* featureLines({ overlays, selected, codeBook }: Inspection): Generator<string> {
  const readingOf = createReader(codeBook);
  const sourceOf = featureTexts(overlays);
  for (const drawing of selected) {
    const reading = JSON.stringify(readingOf(drawing));
    yield `${reading.slice(0, -1)},"feature":${sourceOf(drawing)}}`;
  }
}

type FeatureReading = Omit<InspectedFeature, 'feature'>;

/** Features with the same codes share one list, of which a large map has few. */
function createReader(codeBook: CodeBook): (drawing: Drawing) => FeatureReading {
  const known = new Map<readonly Code[], FeatureReading['codes']>();
  const codesOf = (codes: readonly Code[]) => {
    const views = known.get(codes) ?? codes.map((code) => codeOf(code, codeBook));
    known.set(codes, views);
    return views;
  };
  return ({ index, id, kind, name, shape, yaw, iconYaw, codes }) => ({
    index,
    id,
    kind,
    name,
    xM: shape.kind === 'point' ? shape.at[0] : null,
    yM: shape.kind === 'point' ? shape.at[1] : null,
    yawDeg: yaw?.deg ?? null,
    iconYawDeg: iconYaw?.deg ?? null,
    codes: codesOf(codes),
  });
}

function codeOf({ field, number }: Code, codeBook: CodeBook): FeatureReading['codes'][number] {
  if (number === null) return { field, number, mark: 'OFFEN', basis: 'not-shown' };
  const { mark, basis } = codeBook.meaning(field, number);
  return { field, number, mark, basis };
}
