import { type DeviceEvidence, type FactId, factById, known, markHere } from '../../evidence/index.ts';
import {
  type Code,
  type CodeBook,
  type Feature,
  type FeatureFilter,
  featureTexts,
  type Inspection,
  inspectOverlays,
  isFiltering,
  knownOf,
  onlyPlaceOf,
  type Severity,
} from '../../overlays/index.ts';
import { RawList } from '../../text/index.ts';
import { writeDocument } from '../document-file.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { DocumentFormat, InspectedFeature, OverlaysInspect } from './inspect.result.ts';
import type { OpenedOverlays, OverlaysSource } from './source/model.ts';
import { openOverlays } from './source.ts';

export interface OverlaysInspectOptions {
  readonly source: OverlaysSource;
  readonly filter?: FeatureFilter | undefined;
  /** A document beside the result: written to `out`, or returned. */
  readonly document?: {
    readonly format: DocumentFormat;
    readonly out?: string | undefined;
    readonly force?: boolean;
    /** Of a page. */
    readonly lang?: 'de' | 'en' | undefined;
  };
  readonly openToolkit: () => Promise<Toolkit>;
  /** The site file was given explicitly, so it must exist. */
  readonly siteNamed?: boolean | undefined;
  /** The date on a page. */
  readonly now: () => Date;
}

/** The result for JSON output: every feature as in its source, with all digits. */
export type ExactOverlaysInspect = WithFeatures<RawList>;
type WithFeatures<F> = Omit<OverlaysInspect, 'features'> & { readonly features: F };

/**
 * Inspects the overlays of a map: reads them from the chassis or a file, with the meaning and mark of every number and
 * the findings. Changes nothing on the chassis. Throws what `openOverlays` throws, FILE_EXISTS, FILE_UNWRITABLE.
 */
export function inspectMapOverlays(options: OverlaysInspectOptions, context: CheckContext): Promise<OverlaysInspect> {
  return inspect(featuresOf, options, context);
}

/** The same for JSON output. */
export function inspectExactly(options: OverlaysInspectOptions, context: CheckContext): Promise<ExactOverlaysInspect> {
  return inspect(exactFeaturesOf, options, context);
}

async function inspect<F>(
  viewOf: (inspection: Inspection) => F,
  options: OverlaysInspectOptions,
  context: CheckContext,
): Promise<WithFeatures<F>> {
  const { source, filter = {}, document } = options;
  const opened = await openOverlays(source, { ...options, needImage: true, compareRunning: true }, context);
  context.onProgress('inspecting the overlays');
  const { overlays, frame, device } = opened;
  const inspection = inspectOverlays(overlays, { frame, device, filter });
  const result = {
    ...resultOf(opened, inspection, { source, filter }, viewOf(inspection)),
    document: null,
    written: null,
  };
  if (document === undefined) return result;

  const { format, out, force = false, lang } = document;
  const text = await documentOf(format, inspection, opened, { now: options.now(), lang });
  if (out === undefined) return { ...result, document: text };
  return { ...result, written: { format, path: out, bytes: await writeDocument(out, text, { force }) } };
}

async function documentOf(
  format: DocumentFormat,
  inspection: Inspection,
  opened: OpenedOverlays,
  { now, lang }: { readonly now: Date; readonly lang: 'de' | 'en' | undefined },
): Promise<string> {
  const { renderPage, renderSvg, toCsv, toGeojson } = await import('../../overlays/render/index.ts');
  const { label, image, map, chassis } = opened;
  const title = map?.name ?? label;
  switch (format) {
    case 'csv':
      return toCsv(inspection);
    case 'geojson':
      return toGeojson(inspection);
    case 'svg':
      return renderSvg(inspection, { title, image });
    case 'html':
      return renderPage(inspection, { title, image, source: label, chassis, madeAt: now.toISOString(), lang });
  }
}

interface Request {
  readonly source: OverlaysSource;
  readonly filter: FeatureFilter;
}

function resultOf<F>(
  { label, map, chassis, running, warnings }: OpenedOverlays,
  inspection: Inspection,
  { source, filter }: Request,
  features: F,
): Omit<WithFeatures<F>, 'document' | 'written'> {
  const { overlays, frame, selected, findings, pairs, survey } = inspection;
  const { kinds, icons, carried, carriedMore } = survey;
  const measured = factById('overlays.charging-pair-distance');
  return {
    source: { label, kind: source.kind, form: overlays.form, container: overlays.container, chassis },
    map,
    running,
    picture: frame === null ? null : pictureOf(frame),
    filter: isFiltering(filter) ? filterOf(filter) : null,
    summary: {
      features: overlays.features.length,
      points: kinds.point,
      lanes: kinds.lane,
      zones: kinds.zone,
      others: kinds.other,
      chargers: new Set(pairs.flatMap(({ charger }) => charger ?? [])).size,
      chargingStations: pairs.filter(({ charger, dockingPoint }) => charger !== null && dockingPoint !== null).length,
      notFeatures: overlays.notFeatures.length,
      selected: selected.length,
      findings: countsOf(findings),
    },
    fields: fieldsOf(inspection),
    codes: codesOf(inspection),
    features,
    chargers: {
      measuredOnce: known(
        Number(measured.value),
        measured.mark,
        measured.basis,
        `${measured.source} (${measured.id})`,
        measured.unit,
      ),
      pairs: [...pairs],
    },
    icons: { ...icons },
    carried: {
      members: [...carried],
      more: carriedMore,
    },
    findings: [...findings],
    known: [...knownOf(inspection)],
    warnings: [...warnings],
  };
}

function pictureOf(frame: NonNullable<Inspection['frame']>): NonNullable<OverlaysInspect['picture']> {
  const { originXM, originYM, resolutionM, width, height } = frame;
  return { originXM, originYM, resolutionM, widthPx: width, heightPx: height };
}

function filterOf({ kinds, mark, near, withFindings }: FeatureFilter): NonNullable<OverlaysInspect['filter']> {
  return {
    kinds: kinds === undefined ? null : [...kinds],
    mark: mark ?? null,
    near: near === undefined ? null : { xM: near.at[0], yM: near.at[1], radiusM: near.radiusM },
    withFindings: withFindings === true,
  };
}

function countsOf(findings: Inspection['findings']): OverlaysInspect['summary']['findings'] {
  const counts = { wrong: 0, warning: 0, note: 0, 'not-checked': 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts satisfies Record<Severity, number>;
}

/** The unit of a number in the result, with the fact behind it. */
export function fieldOf(device: DeviceEvidence | null, fact: FactId, unit: string): OverlaysInspect['fields'][string] {
  const { mark, basis } = markHere(fact, device);
  return { unit, mark, basis, source: factById(fact).source, fact };
}

/** Unit and mark of every number by its key in the result. */
function fieldsOf({ device }: Inspection): OverlaysInspect['fields'] {
  const metres = fieldOf(device, 'vendor.overlays.geojson', 'm');
  return {
    xM: metres,
    yM: metres,
    distanceM: metres,
    yawDeg: fieldOf(device, 'angles.overlay-yaw', 'degrees'),
    iconYawDeg: fieldOf(device, 'angles.overlay-icon-yaw', 'degrees'),
  };
}

function codesOf({ survey, codeBook }: Inspection): OverlaysInspect['codes'] {
  return survey.codes.map(({ field, number, count }) => {
    if (number === null)
      return { field, number, count, mark: 'OFFEN', basis: 'not-shown', readings: [], disagreement: null };
    const { mark, basis, readings, disagreement } = codeBook.meaning(field, number);
    return { field, number, count, mark, basis, readings, disagreement };
  });
}

/** The selected features for a result. */
function featuresOf({ overlays, selected, codeBook }: Inspection): InspectedFeature[] {
  return selected.map((feature) => ({ ...readingOf(feature, codeBook), feature: overlays.rawOf(feature) }));
}

/** The same as JSON, each feature as in its source, since parsed numbers may have lost digits. */
function exactFeaturesOf(inspection: Inspection): RawList {
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
  const place = onlyPlaceOf(shape);
  return {
    index,
    id,
    kind,
    name,
    xM: place?.[0] ?? null,
    yM: place?.[1] ?? null,
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
