import { describe, expect, it } from 'vitest';
import type { ArchivedMap, LiveMap, UnreadMap } from '../../src/lib/maps/index.ts';
import { changesAnything, planRestore } from '../../src/lib/maps/index.ts';
import { archivedMap, mapDocument, oddOverlays, picture } from './samples.ts';

const inUse = (id: number) => ({ id, uid: `uid-${id}`, name: `Floor ${id}`, mapVersion: 1 });
const empty = '{"type":"FeatureCollection","features":[]}';

function plan(
  archived: readonly ArchivedMap[],
  live: readonly LiveMap[],
  current: number | null = 1,
  damaged: readonly UnreadMap[] = [],
) {
  return planRestore(
    { maps: archived, damaged: [] },
    { maps: live, damaged, currentProblem: null, current: current === null ? null : inUse(current) },
  );
}

/** The plan of the first map of the archive against these. */
const first = (archived: ArchivedMap, live: readonly LiveMap[]) => {
  const [planned] = plan([archived], live).maps;
  return { verdict: planned?.verdict, by: planned?.matchedBy, live: planned?.live?.id, why: planned?.why ?? '' };
};

describe('the match of an archived map', () => {
  it('is by uid, regardless of numbers and names', () => {
    const live = [archivedMap(1, { uid: 'uid-2' }), archivedMap(9, { uid: 'uid-1', name: 'Hall' })];
    expect(first(archivedMap(1), live)).toEqual({ verdict: 'same', by: 'uid', live: 9, why: '' });
    expect(plan([archivedMap(1)], live).maps[0]?.notes).toEqual([expect.stringContaining('its name is now "Hall"')]);
  });

  it('is by number only where neither has a uid', () => {
    const none = { uid: null };
    expect(first(archivedMap(1, none), [archivedMap(1, none)])).toMatchObject({ verdict: 'same', by: 'id' });
    const renumbered = archivedMap(2, { ...none, name: 'Floor 1' });
    expect(first(archivedMap(1, none), [renumbered])).toMatchObject({ verdict: 'same', by: 'content' });
    expect(first(archivedMap(1, none), [archivedMap(1, { name: 'Hall' })])).toMatchObject({
      verdict: 'conflict',
      by: 'id',
      why: expect.stringContaining('only one of the two has a uid'),
    });
    expect(first(archivedMap(1), [archivedMap(1, { ...none, name: 'Hall' })])).toMatchObject({ verdict: 'conflict' });
  });

  it('does not exist when a map of another uid has its number and name', () => {
    const other = archivedMap(1, { uid: 'else', image: picture(9, 9) });
    expect(first(archivedMap(1), [other])).toMatchObject({ verdict: 'missing', by: null });
    const { maps, others } = plan([archivedMap(1)], [other]);
    expect(maps[0]?.notes).toEqual([expect.stringContaining('map 1 on the chassis has the same name')]);
    expect(others).toEqual([other]);
  });

  it('is ambiguous when two maps have the uid, or two of the archive match the same one', () => {
    const twins = [archivedMap(4, { uid: 'uid-1' }), archivedMap(5, { uid: 'uid-1' })];
    expect(first(archivedMap(1), twins)).toMatchObject({
      verdict: 'conflict',
      why: '2 maps on the chassis have its uid',
    });
    const both = plan([archivedMap(1), archivedMap(2, { uid: 'uid-1' })], [archivedMap(1)]);
    expect(both.maps.map(({ verdict }) => verdict)).toEqual(['conflict', 'conflict']);
  });

  it('excludes maps with the uid of another archived map', () => {
    const archived = [archivedMap(1), archivedMap(2, { name: 'Floor 1' })];
    const { maps } = plan(archived, [archivedMap(2, { name: 'Floor 1' })]);
    expect(maps.map(({ verdict, matchedBy }) => [verdict, matchedBy])).toEqual([
      ['missing', null],
      ['same', 'uid'],
    ]);
  });
});

describe('the planned change', () => {
  it.each([
    ['another grid', { data: mapDocument(1, oddOverlays, { grid_origin_x: 0 }) }],
    ['another resolution', { data: mapDocument(1, oddOverlays, { grid_resolution: 0.1 }) }],
    ['another picture', { image: picture(9, 6) }],
    ['another map_version', { mapVersion: 4 }],
    ['no grid at all', { data: Buffer.from('{}') }],
    ['a grid that cannot be read', { data: Buffer.from('{') }],
  ] as const)('is a conflict with %s: the old overlays are not written over the new map', (_name, change) => {
    const changes: Partial<ArchivedMap> = { ...change, overlays: empty };
    expect(first(archivedMap(1), [archivedMap(1, changes)])).toMatchObject({ verdict: 'conflict', live: 1 });
  });

  it('finds no twin of the same name where the grid of one cannot be read', () => {
    const other = archivedMap(7, { name: archivedMap(1).name, uid: 'other', data: Buffer.from('{}') });
    expect(first(archivedMap(1), [other])).toMatchObject({ verdict: 'missing', by: null });
  });

  it('is a conflict without picture and version to identify it', () => {
    const bare = { mapVersion: null, image: null };
    expect(first(archivedMap(1, bare), [archivedMap(1, { ...bare, overlays: empty })])).toMatchObject({
      verdict: 'conflict',
      why: expect.stringContaining('neither picture nor map_version'),
    });
    expect(
      first(archivedMap(1, { mapVersion: null }), [archivedMap(1, { mapVersion: null, overlays: empty })]),
    ).toEqual({ verdict: 'overlays-differ', by: 'uid', live: 1, why: '' });
  });

  it('is none when only overlays_version differs, and a write when only the overlays do', () => {
    expect(first(archivedMap(1), [archivedMap(1, { overlaysVersion: 99 })])).toMatchObject({ verdict: 'same' });
    expect(first(archivedMap(1), [archivedMap(1, { overlays: empty })])).toMatchObject({ verdict: 'overlays-differ' });
  });

  it('is a write when the chassis has no overlays any more, and none when neither has any', () => {
    const none = { overlays: null, overlaysForm: 'none' } as const;
    expect(first(archivedMap(1), [archivedMap(1, none)])).toMatchObject({ verdict: 'overlays-differ' });
    expect(first(archivedMap(1, none), [archivedMap(1, none)])).toMatchObject({ verdict: 'same' });
    expect(first(archivedMap(1, none), [archivedMap(1, { overlays: empty })])).toMatchObject({ verdict: 'same' });
    expect(first(archivedMap(1, none), [archivedMap(1)])).toMatchObject({
      verdict: 'not-restorable',
      why: expect.stringContaining('has no overlays'),
    });
  });

  it('is not possible when the chassis returns its overlays as an object', () => {
    const asObject = { overlaysForm: 'object', overlays: empty } as const;
    expect(first(archivedMap(1), [archivedMap(1, asObject)])).toMatchObject({
      verdict: 'not-restorable',
      why: expect.stringContaining('as an object'),
    });
  });

  it('is a write also over unreadable overlays, with the reason why they were not compared', () => {
    const { maps } = plan([archivedMap(1)], [archivedMap(1, { overlays: '<html>' })]);
    expect(maps[0]).toMatchObject({ verdict: 'overlays-differ', overlays: { same: false, diff: null } });
    expect(maps[0]?.overlays?.problem).toEqual(expect.any(String));
  });

  it('sets the current map only when there is none, and never a conflicting one', () => {
    expect(plan([archivedMap(1), archivedMap(2)], [archivedMap(1), archivedMap(2)], null).mapToSelect?.id).toBe(1);
    expect(plan([archivedMap(1)], [archivedMap(1), archivedMap(2)], 2).mapToSelect).toBeNull();
    expect(plan([archivedMap(1)], [archivedMap(1, { mapVersion: 9 })], null).mapToSelect).toBeNull();
    expect(plan([archivedMap(2)], [archivedMap(2)], null).mapToSelect).toBeNull();
    expect(changesAnything(plan([archivedMap(1)], [archivedMap(1)], null))).toBe(true);
    expect(changesAnything(plan([archivedMap(1)], [archivedMap(1)]))).toBe(false);
  });

  it('can be restricted to maps by number or uid; the others do not count as foreign', () => {
    const live = { maps: [archivedMap(1), archivedMap(2)], damaged: [], current: inUse(1), currentProblem: null };
    const { maps, others } = planRestore({ maps: [archivedMap(1), archivedMap(2)], damaged: [] }, live, {
      ids: ['uid-2'],
    });
    expect(maps.map(({ archived }) => archived.id)).toEqual([2]);
    expect(others).toEqual([]);
  });
});
