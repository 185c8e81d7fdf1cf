import { markText } from '../../evidence/index.ts';
import { isRecord, quote } from '../../json/index.ts';
import { idsOf } from '../ids.ts';
import type { ChargerPair, Feature } from '../model.ts';
import { featureAt, type RuleInput } from './input.ts';
import { createReader } from './reading.ts';
import { listing, naming, namingAll, wording } from './wording.ts';

/** Chargers and docking points that do not form pairs. */
export function findChargerFaults(input: RuleInput): void {
  const {
    overlays: { features },
    codeBook,
    pairs,
    report,
  } = input;
  const chargersOf = new Map<number, number[]>();
  const dockingPointsOf = new Map<number, number[]>();
  const readings = {
    charger: createReader(codeBook, /^charger$/i),
    'docking point': createReader(codeBook, /^docking point$/i),
  };
  for (const pair of pairs) {
    const { charger, dockingPoint } = pair;
    if (charger !== null && dockingPoint !== null) {
      listIn(chargersOf, dockingPoint).push(charger);
      listIn(dockingPointsOf, charger).push(dockingPoint);
    } else if (charger !== null) {
      reportAlone('charger-without-partner', charger, 'charger', pair);
    } else if (dockingPoint !== null) {
      reportAlone('docking-point-without-charger', dockingPoint, 'docking point', pair);
    }
  }
  reportShared('docking-point-shared', chargersOf, 'chargers');
  reportShared('charger-shared', dockingPointsOf, 'docking points');
  const checked = new Set<number>();
  for (const { charger, dockingPoint, linkedBy } of pairs) {
    if (charger === null || dockingPoint === null) continue;
    // A reference to another item of the right kind is a pair of its own, reported as shared.
    if (linkedBy === 'docking-point') reportUnresolved(charger, dockingPoint, 'docking point', dockingPointsOf);
    else if (linkedBy === 'charger') reportUnresolved(dockingPoint, charger, 'charger', chargersOf);
  }

  function reportAlone(
    rule: 'charger-without-partner' | 'docking-point-without-charger',
    index: number,
    kind: 'charger' | 'docking point',
    { linkedBy }: ChargerPair,
  ): void {
    report(rule, [index], () => {
      const item = featureAt(features, index);
      if (item === undefined) return `#${index} has no partner.`;
      const other = kind === 'charger' ? 'docking point' : 'charger';
      const read = readings[kind](item.code);
      const what = `${naming(item)} is of type ${read?.number}, '${read?.meaning}' (${read === null ? 'OFFEN' : markText(read)})`;
      const reference = referenceOf(item, other);
      if (linkedBy === 'not-decided' && item.partnerId === null)
        return `${what}, and shares the id that a ${other} refers to: the reference is ambiguous.`;
      return linkedBy === 'not-decided'
        ? `${what}, and ${reference}.`
        : `${what}, ${reference}, and no ${other} refers to it.`;
    });
  }

  function reportShared(
    rule: 'docking-point-shared' | 'charger-shared',
    partnersOf: ReadonlyMap<number, readonly number[]>,
    partners: string,
  ): void {
    for (const [index, linked] of partnersOf) {
      if (linked.length < 2) continue;
      const all = [...linked, index].sort((a, b) => a - b);
      report(rule, all, () => {
        const item = featureAt(features, index);
        const what = item === undefined ? `#${index}` : naming(item);
        return `${linked.length} ${partners} are linked with ${what}: ${namingAll(features, linked)}.`;
      });
    }
  }

  /** The item of a pair that its partner refers to, with a reference of its own that leads to no partner. */
  function reportUnresolved(
    index: number,
    partner: number,
    other: 'charger' | 'docking point',
    partnersOf: ReadonlyMap<number, readonly number[]>,
  ): void {
    if (checked.has(index)) return;
    checked.add(index);
    const item = featureAt(features, index);
    if (item === undefined || item.partnerId === null) return;
    const linked = partnersOf.get(index) ?? [];
    if (linked.some((at) => featureAt(features, at)?.id === item.partnerId)) return;
    report(
      'docking-reference-unresolved',
      [index, partner].sort((a, b) => a - b),
      () => {
        return `${namingAll(features, [partner])} refers to ${naming(item)}, and ${naming(item)} ${referenceOf(item, other)}.`;
      },
    );
  }

  /** The reference of an item that leads to no partner: `refers to "d", which is the id of no feature`. */
  function referenceOf(item: Feature, other: 'charger' | 'docking point'): string {
    const { id, partnerId } = item;
    if (partnerId === null) {
      const { properties } = input.overlays.rawOf(item);
      const written = isRecord(properties) ? properties.dockingPointId : undefined;
      const isGiven = written !== undefined && written !== null && written !== '';
      return isGiven ? `its dockingPointId is ${wording(written)}, which is not an id` : `refers to no ${other}`;
    }
    const { first, duplicate } = idsOf(features);
    const one = first.get(partnerId);
    const found = duplicate.get(partnerId) ?? (one === undefined ? [] : [one]);
    const others = found.filter((feature) => feature !== item);
    if (others.length === 0) {
      return id === partnerId ? 'refers to itself' : `refers to ${quote(partnerId)}, which is the id of no feature`;
    }
    const partners = others.filter(({ kind, code }) => kind === 'point' && readings[other](code) !== null);
    const [shown, total] = partners.length > 0 ? [partners, partners.length] : [others, others.length];
    const named = listing(shown.slice(0, MAX_NAMED).map(describe), total);
    if (partners.length > 1) return `refers to ${quote(partnerId)}, the id of ${partners.length} ${other}s: ${named}`;
    return `refers to ${named}, which is not a ${other}`;
  }
}

const MAX_NAMED = 3;

function describe(feature: Feature): string {
  const { kind, code } = feature;
  if (kind !== 'point') return naming(feature);
  return code === null ? `${naming(feature)} without a type` : `${naming(feature)} of type ${wording(code.written)}`;
}

function listIn(lists: Map<number, number[]>, key: number): number[] {
  const before = lists.get(key);
  if (before !== undefined) return before;
  const list: number[] = [];
  lists.set(key, list);
  return list;
}
