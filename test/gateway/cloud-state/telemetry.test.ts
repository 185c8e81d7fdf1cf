import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../../src/lib/angle/index.ts';
import type { LiveValues } from '../../../src/lib/chassis/index.ts';
import { telemetryOf } from '../../../src/lib/gateway/cloud-state/index.ts';
import { chassisAfter, health, inOrder, motion } from './sources.ts';

const page = readFileSync(new URL('../../../docs/cloud.md', import.meta.url), 'utf8');
const chassisFields = 'position heading battery power emergencyStop controlMode positioning move alerts map'.split(' ');

interface SentValue {
  readonly value: unknown;
  readonly reason: string | null;
}
type Sent = Readonly<Record<string, SentValue>>;
function telemetry(snapshot: ReturnType<ReturnType<typeof chassisAfter>['snapshot']>): Sent {
  const made = telemetryOf({ snapshot, motion: motion(), health: health({ version: '1.4.0' }) });
  // As it goes over the wire: nothing is lost.
  expect(JSON.parse(JSON.stringify(made))).toEqual(made);
  return made as Sent;
}

describe('telemetry', () => {
  it('has each current value with its unit, mark and age', async () => {
    const { snapshot, clock, live } = chassisAfter(...inOrder);
    await clock.advance(1_000);
    const sent = telemetry(snapshot({ values: live.values() }));
    const age = { ageMs: 1_000, reason: null };
    expect(sent).toMatchObject({
      schema: 'gw/telemetry/1',
      gw: { version: '1.4.0', status: 'ok' },
      link: { state: 'connected', forMs: 1_500 },
      stop: { latched: false, saved: true },
      gateOpen: true,
      activity: null,
      position: { value: { xM: 1.25, yM: -2.5 }, unit: 'm', mark: 'HINWEIS', basis: 'vendor', ...age },
      heading: { value: 90, unit: 'degrees', mark: 'BELEGT', basis: 'measured', ...age },
      battery: { value: 87, unit: 'percent', mark: 'HINWEIS', ...age },
      power: { value: 'discharging', unit: null },
      emergencyStop: { value: false },
      controlMode: { value: { mode: 'auto', wheelsReleased: null } },
      positioning: { value: { state: 'positioning', reliable: true, quality: null } },
      move: { value: { state: 'moving', type: 'standard', failReason: 0, remainingDistanceM: 1.5 } },
      alerts: { value: { count: 0, first: [] } },
      map: { value: { name: 'EG', uid: 'u7', mapVersion: 3, overlaysVersion: 9 } },
    });
  });

  it('has null and the reason where nothing was received', () => {
    const sent = telemetry(chassisAfter().snapshot());
    const none = { value: null, mark: null, basis: null, ageMs: null, reason: 'not-received' };
    for (const name of chassisFields) expect(sent[name], name).toMatchObject(none);
  });

  it('never has the last known value as the present one', async () => {
    const { live, snapshot, clock } = chassisAfter(...inOrder);
    await clock.advance(4_000);
    expect(telemetry(snapshot({ values: live.values() })).position).toMatchObject({
      ...{ value: null, reason: 'too-old', ageMs: 4_000, mark: 'HINWEIS' },
    });
    live.disconnect();
    const sent = telemetry(snapshot({ values: live.values() }));
    for (const name of chassisFields) expect(sent[name]).toMatchObject({ value: null, reason: 'no-connection' });
    live.connect();
    expect(telemetry(snapshot({ values: live.values() })).battery?.reason).toBe('not-received-since-reconnect');
  });

  it('has the reason where messages are rejected', () => {
    const broken = { topic: '/battery_state', percentage: 'full' };
    expect(telemetry(chassisAfter(broken).snapshot()).battery).toMatchObject({ value: null, reason: 'rejected' });
    expect(telemetry(chassisAfter(...inOrder, broken).snapshot()).battery).toMatchObject({
      ...{ value: null, reason: 'newer-rejected' },
    });
  });

  it('has no heading while its unit is contradicted or in doubt; the position stands', () => {
    const { snapshot } = chassisAfter(...inOrder);
    const contradicted = telemetry(snapshot({ unitContradicted: true }));
    expect(contradicted.heading).toMatchObject({ value: null, reason: 'unit-contradicted' });
    expect(contradicted.position?.value).toEqual({ xM: 1.25, yM: -2.5 });
    const { poseUnit } = snapshot();
    const doubted = telemetry(snapshot({ poseUnit: { ...poseUnit, doubt: 'like radians' } }));
    expect(doubted.heading?.reason).toBe('unit-in-doubt');
  });

  it('has null for a number that is none, also within a value', () => {
    const { live, snapshot } = chassisAfter(...inOrder);
    const values = live.values();
    const withValue = <F extends keyof LiveValues>(name: F, value: unknown) =>
      snapshot({ values: { ...values, [name]: { ...values[name], value } } });
    const expected = { battery: { value: null, reason: 'not-a-number' }, power: { value: 'full', reason: null } };
    expect(telemetry(withValue('battery', { percent: Number.NaN, status: 'full' }))).toMatchObject(expected);
    const pose = { xM: 1, yM: Number.POSITIVE_INFINITY, yawDeg: degrees(1) };
    expect(telemetry(withValue('pose', pose))).toMatchObject({
      position: { value: null, reason: 'not-a-number' },
      heading: { value: 1, reason: null },
    });
  });

  it('passes numbers through, and bounds texts and lists of the chassis', () => {
    const alerts = Array.from({ length: 50 }, (_, i) => ({ code: 100 + i, level: 'x'.repeat(500), msg: 'secret' }));
    const failed = { ...inOrder[1], move_state: 'failed', fail_reason: 9_999 };
    const sent = telemetry(chassisAfter(...inOrder, failed, { topic: '/alerts', alerts }).snapshot());
    expect(sent.move?.value).toMatchObject({ failReason: 9_999 });
    expect(sent.alerts?.value).toMatchObject({ count: 50 });
    expect(sent).toHaveProperty('alerts.value.first.length', 20);
    expect(JSON.stringify(sent).length).toBeLessThan(8_000);
  });

  it('names what gw drives at the moment, and nothing that has ended', () => {
    const { snapshot } = chassisAfter(...inOrder);
    const activity = (change: object) =>
      telemetryOf({ snapshot: snapshot(), motion: { ...motion(), ...change }, health: health() }).activity;
    const tour = { id: 'r', tour: 'lunch', stations: ['A'], state: 'running', at: 0, outcomes: [], reason: null };
    expect(activity({ tour })).toEqual({ kind: 'tour', name: 'lunch' });
    expect(activity({ tour: { ...tour, state: 'paused' } })).toEqual({ kind: 'paused-tour', name: 'lunch' });
    expect(activity({ tour: { ...tour, state: 'stopped' } })).toBeNull();
    expect(activity({ drive: { id: 'd', kind: 'dock', station: null, state: 'running' } })).toEqual({
      ...{ kind: 'drive', name: null },
    });
    expect(activity({ trial: { kind: 'move' } })).toEqual({ kind: 'trial', name: 'move' });
  });

  it('is the documented set', () => {
    const section = /^### Telemetry\n([\s\S]*?)^### /m.exec(page)?.[1] ?? '';
    const documented = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(documented.sort()).toEqual(Object.keys(telemetry(chassisAfter().snapshot())).sort());
    for (const name of chassisFields)
      expect(section).toMatch(new RegExp(`^\\| \`${name}\` \\| value of the chassis`, 'm'));
  });
});
