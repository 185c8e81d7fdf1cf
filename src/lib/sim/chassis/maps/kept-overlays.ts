import { randomBytes } from 'node:crypto';
import type { Faults } from '../../faults.ts';
import { isRecord } from './map-store.ts';

/** Properties of features that the vendor describes (vendor facts 3) or the specification names. */
const knownProperties: ReadonlySet<string> = new Set([
  'type',
  'lineType',
  'regionType',
  'yaw',
  'name',
  'desc',
  'mapOverlay',
  'blocked',
  'mac',
  'deviceIds',
  'dockingPointId',
  'barcodeId',
  'landmarkId',
  'ref',
  'enabledLevels',
  'rackLevels',
  'iconYaw',
  'direction',
  'startType',
  'endType',
]);

/**
 * The overlays that the chassis stores after a PATCH: unchanged, unless a fault is on. The behaviour of a real chassis
 * is not documented and was not measured.
 */
export function keptOverlays(overlays: string, faults: Faults): string {
  const drops = faults.is('patch-drops');
  const renames = faults.is('patch-renames');
  if ((!drops && !renames) || overlays === '') return overlays;
  const collection = JSON.parse(overlays) as { features: unknown[] };
  for (const feature of collection.features) {
    if (!isRecord(feature)) continue;
    if (renames) feature.id = randomBytes(12).toString('hex');
    if (drops && isRecord(feature.properties)) {
      feature.properties = Object.fromEntries(
        Object.entries(feature.properties).filter(([name]) => knownProperties.has(name)),
      );
    }
  }
  return JSON.stringify(collection);
}
