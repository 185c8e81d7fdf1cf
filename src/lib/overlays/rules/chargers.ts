import { markText } from '../../evidence/index.ts';
import { isRecord, quote } from '../../json/index.ts';
import { idsOf } from '../ids.ts';
import type { ChargerPair, Feature } from '../model.ts';
import { featureAt, type RuleInput } from './input.ts';
import { createReader } from './reading.ts';
import { listing, naming, namingAll, wording } from './wording.ts';

/** Chargers and docking points that do not make pairs. */
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
  const looked = new Set<number>();
  for (const { charger, dockingPoint, namedBy } of pairs) {
    if (charger === null || dockingPoint === null) continue;
    // A reference to another item of the right kind has made a pair of its own, which is reported as shared.
    if (namedBy === 'docking-point') reportElsewhere(charger, dockingPoint, 'docking point', dockingPointsOf);
    else if (namedBy === 'charger') reportElsewhere(dockingPoint, charger, 'charger', chargersOf);
  }

  function reportAlone(
    rule: 'charger-without-partner' | 'docking-point-without-charger',
    index: number,
    kind: 'charger' | 'docking point',
    { namedBy }: ChargerPair,
  ): void {
    report(rule, [index], () => {
      const item = featureAt(features, index);
      if (item === undefined) return `#${index} has no partner.`;
      const other = kind === 'charger' ? 'docking point' : 'charger';
      const read = readings[kind](item.code);
      const what = `${naming(item)} is of type ${read?.number}, '${read?.meaning}' (${read === null ? 'OFFEN' : markText(read)})`;
      const reference = referenceOf(item, other);
      if (namedBy === 'not-decided' && item.partnerId === null)
        return `${what}, and shares the id that a ${other} names: which one is meant cannot be told.`;
      return namedBy === 'not-decided'
        ? `${what}, and ${reference}.`
        : `${what}, ${reference}, and no ${other} names it.`;
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

  /** The item of a pair that its partner names, and that names something which is no such partner. */
  function reportElsewhere(
    index: number,
    partner: number,
    other: 'charger' | 'docking point',
    partnersOf: ReadonlyMap<number, readonly number[]>,
  ): void {
    if (looked.has(index)) return;
    looked.add(index);
    const item = featureAt(features, index);
    if (item === undefined || item.partnerId === null) return;
    const linked = partnersOf.get(index) ?? [];
    if (linked.some((at) => featureAt(features, at)?.id === item.partnerId)) return;
    report(
      'docking-reference-unresolved',
      [index, partner].sort((a, b) => a - b),
      () => {
        return `${namingAll(features, [partner])} names ${naming(item)}, and ${naming(item)} ${referenceOf(item, other)}.`;
      },
    );
  }

  /** What the reference of an item leads to, where it leads to no partner: `names "d", which no feature has as its id`. */
  function referenceOf(item: Feature, other: 'charger' | 'docking point'): string {
    const { id, partnerId } = item;
    if (partnerId === null) {
      const { properties } = input.overlays.rawOf(item);
      const written = isRecord(properties) ? properties.dockingPointId : undefined;
      const isGiven = written !== undefined && written !== null && written !== '';
      return isGiven ? `its dockingPointId is ${wording(written)}, which names nothing` : `names no ${other}`;
    }
    const { first, doubled } = idsOf(features);
    const one = first.get(partnerId);
    const found = doubled.get(partnerId) ?? (one === undefined ? [] : [one]);
    const others = found.filter((feature) => feature !== item);
    if (others.length === 0) {
      return id === partnerId ? 'names itself' : `names ${quote(partnerId)}, which no feature has as its id`;
    }
    const partners = others.filter(({ kind, code }) => kind === 'point' && readings[other](code) !== null);
    const [shown, total] = partners.length > 0 ? [partners, partners.length] : [others, others.length];
    const named = listing(shown.slice(0, MOST_NAMED).map(describe), total);
    if (partners.length > 1) return `names ${quote(partnerId)}, the id of ${partners.length} ${other}s: ${named}`;
    return `names ${named}, which is no ${other}`;
  }
}

const MOST_NAMED = 3;

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
