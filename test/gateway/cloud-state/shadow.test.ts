import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shadowState } from '../../../src/lib/cloud/reporting/shadow.ts';
import { type ShadowSources, shadowOf } from '../../../src/lib/gateway/cloud-state/index.ts';
import { tried } from '../../operator/stand-ins.ts';
import { chassisAfter, inOrder, motion } from './sources.ts';

const page = readFileSync(new URL('../../../docs/cloud.md', import.meta.url), 'utf8');
const sources = (change: Partial<ShadowSources> = {}): ShadowSources => ({
  version: '1.4.0',
  site: { name: 'Lobby', chassis: { serial: 'SN0001' } },
  snapshot: chassisAfter(...inOrder).snapshot(),
  motion: motion(),
  link: null,
  release: null,
  ...change,
});
const unknown = () => sources({ snapshot: { ...chassisAfter().snapshot(), identity: null } });

describe('the reported state of the shadow', () => {
  it('has the versions and the slow state', () => {
    expect(shadowOf(sources())).toEqual({
      schema: 'gw/shadow/1',
      gw: { version: '1.4.0' },
      site: { name: 'Lobby' },
      chassis: { serial: 'SN0001', software: '2.12.3', model: 'm1', link: 'connected' },
      map: { name: 'EG', uid: 'u7', mapVersion: 3, overlaysVersion: 9 },
      stop: { latched: false, saved: true, by: 'none', reason: 'none', since: 'none' },
      cloud: { path: 'not-checked' },
      release: { status: 'not-checked', installed: 'not-checked', previous: 'not-checked', run: 'not-checked' },
    });
  });

  it('has a word for what is unknown, so that no key vanishes', () => {
    const state = shadowOf(unknown());
    expect(state).toMatchObject({
      chassis: { serial: 'SN0001', software: 'not-checked', model: 'not-checked' },
      map: { name: 'not-checked', uid: 'not-checked', mapVersion: 'not-checked', overlaysVersion: 'not-checked' },
    });
    // Nothing in it would delete a key of a shadow.
    for (const each of [state, shadowOf(sources())]) expect(shadowState(each)).toEqual(each);
  });

  it('never has the map of before as the present one', () => {
    const { live, snapshot } = chassisAfter(...inOrder);
    live.disconnect();
    const link = { kind: 'not-connected', failure: 'no-answer', detail: '', tried } as const;
    const expected = { chassis: { link: 'no-answer' }, map: { name: 'not-checked' } };
    expect(shadowOf(sources({ snapshot: snapshot({ values: live.values(), link }) }))).toMatchObject(expected);
  });

  it('has the stop, the path to the cloud and the release', () => {
    const run = {
      phase: 'ready' as const,
      ...{ jobId: 'j1', executionNumber: 1, fromVersion: '1.4.0', toVersion: '1.5.0', stage: null },
      ...{ documentParameters: null, since: '', detail: null, starts: 0, isReported: false, hasJobEnded: false },
    } as const;
    const release: NonNullable<ShadowSources['release']> = {
      status: 'ready',
      ...{ detail: '', remedy: null, runningVersion: '1.4.0', previous: null, run },
      installed: Array.from({ length: 20 }, (_, i) => `1.${i}.0`),
    };
    const { stop } = motion();
    const motionStop = { ...stop, latched: true, by: 'tablet', reason: 'r'.repeat(500), since: 't' };
    const state = shadowOf(sources({ motion: { stop: motionStop }, release }));
    const reported = { jobId: 'j1', phase: 'ready', toVersion: '1.5.0', stage: 'none' };
    expect(state).toMatchObject({
      stop: { latched: true, by: 'tablet', since: 't' },
      release: { status: 'ready', previous: 'none', run: reported },
    });
    expect((state.release as { installed: string[] }).installed).toHaveLength(8);
    expect(JSON.stringify(state).length).toBeLessThan(2_000);
    expect(shadowOf(sources({ release: { ...release, run: null } }))).toMatchObject({ release: { run: 'none' } });
  });

  it('has a word for a version that is no number', () => {
    const { live, snapshot } = chassisAfter(...inOrder);
    const { map, ...values } = live.values();
    if (map.status !== 'received') throw new Error('no map');
    const broken = { ...map, value: { ...map.value, mapVersion: Number.NaN, overlaysVersion: null } };
    expect(shadowOf(sources({ snapshot: snapshot({ values: { ...values, map: broken } }) }))).toMatchObject({
      map: { mapVersion: 'not-checked', overlaysVersion: 'not-checked' },
    });
  });

  it('is the documented set', () => {
    const section = /^### Shadow\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
    const documented = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(documented.sort()).toEqual(Object.keys(shadowOf(unknown())).sort());
  });
});
