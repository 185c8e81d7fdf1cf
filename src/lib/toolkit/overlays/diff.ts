import type { DeviceEvidence } from '../../evidence/index.ts';
import { changedCodes, createCodeBook, diffOverlays, type Feature, type MapFrame } from '../../overlays/index.ts';
import { writeDocument } from '../document-file.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { OverlaysDiffResult } from './diff.result.ts';
import { fieldOf } from './inspect.ts';
import type { OpenedOverlays, OverlaysSource } from './source/model.ts';
import { openOverlays } from './source.ts';

export interface OverlaysDiffOptions {
  /** The old side. */
  readonly from: OverlaysSource;
  /** The new side. */
  readonly to: OverlaysSource;
  /** A document beside the result: written to `out`, or returned. */
  readonly document?: {
    readonly format: 'svg' | 'html';
    readonly out?: string | undefined;
    readonly force?: boolean;
  };
  readonly openToolkit: () => Promise<Toolkit>;
  /** The site file was given explicitly, so it must exist. */
  readonly siteNamed?: boolean | undefined;
  /** The date on a page. */
  readonly now: () => Date;
}

/**
 * Compares the overlays of two maps, each from the chassis, a file or a backup. Changes nothing. Throws what
 * `openOverlays` throws, FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function compareMapOverlays(
  options: OverlaysDiffOptions,
  context: CheckContext,
): Promise<OverlaysDiffResult> {
  const { document } = options;
  const sides = { ...options, needImage: document !== undefined };
  const from = await openOverlays(options.from, sides, context);
  const to = await openOverlays(options.to, sides, context);
  context.onProgress('comparing the overlays');
  const diff = diffOverlays(from.overlays, to.overlays);
  const device = deviceOf(from, to);
  const codeBook = createCodeBook(device);
  const warnings = warningsOf(from, to);
  const result: OverlaysDiffResult = {
    from: sideOf(from, options.from),
    to: sideOf(to, options.to),
    diff,
    fields: fieldsOf(device),
    codes: changedCodes(diff, codeBook),
    warnings,
    document: null,
    written: null,
  };
  if (document === undefined) return result;

  const { format, out, force = false } = document;
  const picture = pictureOf(from, to);
  const { renderDiffPage, renderDiffSvg } = await import('../../overlays/render/index.ts');
  const subject = {
    diff,
    from: from.overlays,
    to: to.overlays,
    frame: picture.frame,
    image: picture.image,
  };
  const title = `Difference of overlays: ${to.map?.name ?? from.map?.name ?? 'unnamed map'}`;
  const labels = { title, fromLabel: from.label, toLabel: to.label };
  const text =
    format === 'svg'
      ? renderDiffSvg(subject, labels)
      : renderDiffPage(subject, { ...labels, codeBook, warnings, madeAt: options.now().toISOString() });
  if (out === undefined) return { ...result, document: text };
  const bytes = await writeDocument(out, text, { force });
  return { ...result, written: { format, path: out, bytes } };
}

/** Evidence records apply only where both sides are of their device, or one side names no device. */
function deviceOf({ device: one }: OpenedOverlays, { device: other }: OpenedOverlays): DeviceEvidence | null {
  if (one === null || other === null) return one ?? other;
  return one.serial === other.serial && one.software === other.software ? other : null;
}

function sideOf(
  { label, overlays, map, chassis }: OpenedOverlays,
  { kind }: OverlaysSource,
): OverlaysDiffResult['from'] {
  return { source: { label, kind, form: overlays.form, container: overlays.container, chassis }, map };
}

/** Limits of the comparison. */
function warningsOf(from: OpenedOverlays, to: OpenedOverlays): string[] {
  const warnings = [...new Set([...from.warnings, ...to.warnings])];
  const unread = Math.max(...[from, to].map(({ overlays }) => overlays.features.filter(isUnread).length));
  if (unread > 0) {
    const [have, was] = unread === 1 ? ['feature has', 'it was'] : ['features have', 'they were'];
    warnings.push(
      `${unread} ${have} no geometry that gw reads: ${was} compared as text, so that no distance and no place of it is known.`,
    );
  }
  const [one, other] = [from.chassis?.serial, to.chassis?.serial];
  if (one !== undefined && other !== undefined && one !== other) {
    warnings.push(`The overlays are of two chassis, ${one} and ${other}.`);
  }
  if (from.map?.uid && to.map?.uid && from.map.uid !== to.map.uid) {
    warnings.push('The overlays are of two maps with different uid: their coordinates need not agree.');
  } else if (from.frame !== null && to.frame !== null && !isSamePlace(from.frame, to.frame)) {
    warnings.push('The grids of the two maps differ, so the map was created anew in between: places need not agree.');
  }
  return warnings;
}

/** A geometry of another kind, or one with invalid coordinates. */
function isUnread({ shape: { kind } }: Feature): boolean {
  return kind === 'other' || kind === 'broken';
}

function isSamePlace(one: MapFrame, other: MapFrame): boolean {
  return one.originXM === other.originXM && one.originYM === other.originYM && one.resolutionM === other.resolutionM;
}

/** The side whose picture is the background: the new one, or the old one where only that has a picture. */
function pictureOf(from: OpenedOverlays, to: OpenedOverlays): OpenedOverlays {
  if (to.frame === null) return from;
  return to.image === null && from.frame !== null && isSamePlace(from.frame, to.frame) ? from : to;
}

/** Unit and mark of every number by its key in the result. */
function fieldsOf(device: DeviceEvidence | null): OverlaysDiffResult['fields'] {
  const metres = fieldOf(device, 'vendor.overlays.geojson', 'm');
  const squareMetres = fieldOf(device, 'vendor.overlays.geojson', 'm²');
  const degrees = fieldOf(device, 'angles.overlay-yaw', 'degrees');
  return {
    xM: metres,
    yM: metres,
    movedM: metres,
    largestShiftM: metres,
    fromLengthM: metres,
    toLengthM: metres,
    fromAreaM2: squareMetres,
    toAreaM2: squareMetres,
    fromDeg: degrees,
    toDeg: degrees,
    turnedDeg: degrees,
  };
}
