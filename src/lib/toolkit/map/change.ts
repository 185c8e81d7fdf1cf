import { type FactId, factById } from '../../evidence/index.ts';
import { quote } from '../../json/index.ts';
import type { OverlaysComparison, RunningMap } from '../../maps/index.ts';
import {
  type ChangedFeature,
  type ChangeRow,
  changeRows,
  type FeatureRef,
  type OverlaysDiff,
  valueRow,
} from '../../overlays/index.ts';
import type { CitedFact } from './change.result.ts';
import type { OverlaysDifference, RunningMapView } from './running-map.result.ts';

/** Facts in the form of a result. */
export function citeFacts(ids: readonly FactId[]): CitedFact[] {
  return ids.map((id) => {
    const { mark, basis, statement, source } = factById(id);
    return { id, mark, basis, statement, source };
  });
}

/** A command for a shell: words with special characters are quoted. */
export function commandText(...words: readonly string[]): string {
  return words
    .map((word) => (/^[A-Za-z0-9_./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** A command of gw for the same site file. */
export function siteCommand(sitePath: string, ...words: readonly string[]): string {
  return commandText('gw', ...words, ...(sitePath === 'site.yaml' ? [] : ['--site', sitePath]));
}

const MAX_SENTENCES = 12;
/** Per feature. */
const MAX_CHANGES = 6;

/** A comparison in the form of a result: counts, and the first differences as sentences. */
export function differenceOf({ same, sameText, diff, problem }: OverlaysComparison): OverlaysDifference {
  if (diff === null) return { same, sameText, counts: null, first: [], shapes: [], problem };
  const { from, to, changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered } = diff.counts;
  const members = diff.members.length;
  return {
    same,
    sameText,
    counts: { from, to, changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered, members },
    first: sentencesOf(diff),
    shapes: shapesOf(diff),
    problem,
  };
}

function sentencesOf(diff: OverlaysDiff): string[] {
  const sentences: string[] = [];
  const add = <T>(list: readonly T[], sentence: (entry: T) => string) => {
    for (const entry of list.slice(0, Math.max(0, MAX_SENTENCES - sentences.length))) sentences.push(sentence(entry));
  };
  add(diff.removed, (ref) => `${nameOf(ref)} was removed`);
  add(diff.added, (ref) => `${nameOf(ref)} was added`);
  add(diff.changed, (change) => `${nameOf(change.from)}: ${changesOf(change).join('; ')}`);
  add(diff.members, (change) => `the collection: ${rowText(valueRow(change))}`);
  add(diff.reordered, ({ from, to }) => `${nameOf(from)} moved from index ${from.index} to ${to.index} of the list`);
  return sentences;
}

/** Position, shape and size of the first features with a changed geometry. */
function shapesOf({ changed }: OverlaysDiff): OverlaysDifference['shapes'] {
  return changed
    .flatMap(({ from, shape }) => (shape === null ? [] : [{ id: from.id, name: from.name, kind: from.kind, ...shape }]))
    .slice(0, MAX_SENTENCES);
}

/** Kind, name and id of a feature, since names are not unique and ids alone are not meaningful to a reader. */
function nameOf({ index, id, name, kind }: FeatureRef): string {
  const noun = kind === 'no-feature' ? 'entry' : kind;
  if (name === null && id === null) return `${noun} at index ${index}`;
  const label = name === null ? '' : ` ${quote(name)}`;
  return `${noun}${label}${id === null ? ' without id' : ` (id ${quote(id)})`}`;
}

function changesOf(change: ChangedFeature): string[] {
  const rows = changeRows(change).map(rowText);
  return rows.length <= MAX_CHANGES ? rows : [...rows.slice(0, MAX_CHANGES), `and ${rows.length - MAX_CHANGES} more`];
}

/** Escapes line breaks and bidirectional control characters of the foreign JSON text. */
function rowText({ what, before, after }: ChangeRow): string {
  return `${what}: ${before} → ${after}`.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return /\s/u.test(character) ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

export function viewRunningMap({ verdict, detail, map, announced, comparison }: RunningMap): RunningMapView {
  return {
    verdict,
    detail,
    mapId: map?.id ?? null,
    uid: map?.uid ?? null,
    name: map?.name ?? null,
    announced: announced && { ...announced },
    difference: comparison && differenceOf(comparison),
    notes: [...(comparison?.notes ?? [])],
  };
}

/** Whether the robot drives by other overlays than the stored ones. */
export function isRunningDifferent({ verdict }: Pick<RunningMapView, 'verdict'>): boolean {
  return verdict === 'differs' || verdict === 'another-map';
}

/** How to make the robot load the stored overlays, with the command. */
export function selectAgain({ mapId }: RunningMapView, sitePath: string): string[] {
  if (mapId === null || mapId < 0) return [];
  return [
    `Select the map again, so that the chassis reloads its overlays; the robot loses its position: ${siteCommand(sitePath, 'map', 'select', String(mapId))}`,
  ];
}

/** Next steps when the running map could not be compared. */
export function compareAgain(running: RunningMapView, sitePath: string): string[] {
  return [
    `Check again whether the robot drives by the stored overlays: ${siteCommand(sitePath, 'overlays', 'inspect', '--current')}`,
    ...selectAgain(running, sitePath).map((sentence) => `If that stays unknown: ${sentence}`),
  ];
}

/**
 * Next steps after the current map was set. No command of gw sets the position: the pose order exists for programs only.
 */
export function afterSelecting(sitePath: string): string[] {
  return [
    'The robot is expected to have lost its position. Set it before it moves, where the robot stands: `gw motion pose`, or the tool of the chassis.',
    `Then check that positioning is reliable and the position correct: ${siteCommand(sitePath, 'chassis', 'watch')}`,
  ];
}
