import { describe, expect, it } from 'vitest';
import { createScreen } from '../../src/cli/long-running.ts';
import { renderChassisEvent, renderChassisProbe, renderChassisView } from '../../src/cli/render/chassis.ts';
import { renderChassisAddress } from '../../src/cli/render/chassis-address.ts';
import type { ChassisAddress, ChassisProbe, RobotCondition } from '../../src/lib/toolkit/chassis/chassis.result.ts';
import type { ChassisView } from '../../src/lib/toolkit/chassis/watch.result.ts';
import { firstLine, plain } from './shown.ts';

const tried = { address: '127.0.0.1', port: 8090, action: 'GET /device/info', forMs: 12 };

const address: ChassisAddress = {
  ...{ state: 'connected', failure: null, detail: 'the chassis of the site file answers', tried, way: 'direct' },
  ...{ link: null, name: { kind: 'address', addresses: ['127.0.0.1'], tookMs: null } },
  ...{ tcp: { verdict: 'ok', tookMs: 1 }, serial: { verdict: 'ok', expected: 'SN-1', found: 'SN-1' } },
  software: '2.12.3',
  mac: { verdict: 'not-checked', expected: null, found: null, detail: 'not asked for' },
  tookMs: 15,
  remedy: null,
};

describe('gw chassis address', () => {
  it('states the verdict in its first line', () => {
    expect(firstLine(renderChassisAddress(address))).toBe('connected: 127.0.0.1:8090 is chassis SN-1, software 2.12.3');
    const refusal = { state: 'not-connected', failure: 'refused', detail: 'nothing listens', remedy: 'Look.' } as const;
    const refused = renderChassisAddress({ ...address, ...refusal });
    expect(firstLine(refused)).toMatch(/^not connected: tried 127\.0\.0\.1:8090 \(.*, 12 ms\), refused: nothing lis/);
    expect(plain(refused)).toContain('do next: Look.');
    const wrong = { ...address, state: 'wrong-device', failure: 'wrong-device', detail: 'it is "SN-2"' } as const;
    expect(firstLine(renderChassisAddress(wrong))).toContain('not connected: tried 127.0.0.1:8090');
    const starting = { ...address, state: 'starting', detail: 'half way' } as const;
    expect(firstLine(renderChassisAddress(starting))).toContain('starting: tried');
  });

  it('passes no control sequences of a device, and never shows an unchecked value in green', () => {
    const evil = { ...address, serial: { ...address.serial, found: 'SN\u001b[2J\u0007' }, software: '\u009b31m' };
    const text = renderChassisAddress(evil);
    expect(text).not.toContain('\u001b[2J');
    expect(text).not.toContain('\u009b');
    expect(plain(text)).toMatch(/^-- {3}mac {5}not checked: not asked for$/m);
  });
});

const vendor = { mark: 'HINWEIS', basis: 'vendor', source: 'vendor' } as const;
const here = { mark: 'BELEGT', basis: 'here', source: 'measured here, now' } as const;
const notPressed: RobotCondition = {
  ...{
    ...{ id: 'emergency-stop', title: 'Emergency stop', verdict: 'ok', detail: 'not pressed', remedy: null },
    missing: null,
  },
  reported: { value: false, ...vendor, ageMs: 300 },
};
const pressed: RobotCondition = {
  ...{ ...notPressed, verdict: 'wrong', detail: 'PRESSED', remedy: 'Release it.' },
  reported: { value: true, ...vendor, ageMs: 300 },
};
const unreceived: RobotCondition = {
  ...{ id: 'battery', title: 'Battery', verdict: 'not-checked', detail: '/battery_state was not received' },
  ...{ remedy: null, missing: 'not-received', reported: null },
};
const asFinding = ({ id, title, verdict, detail, remedy }: RobotCondition) => ({
  ...{ id, title, verdict, detail, remedy },
  spec: 'Chassis interface',
});

const probe: ChassisProbe = {
  verdict: 'ok',
  address: { host: '127.0.0.1', port: 8090, way: 'direct' },
  identity: {
    ...{ serial: { value: 'SN-1', ...vendor }, expectedSerial: 'SN-1', model: null, simulated: false },
    ...{ software: { value: '2.12.3', ...vendor }, capabilities: { value: ['supportsWsV2'], ...vendor } },
  },
  latency: {
    ...{
      requests: 7,
      median: { value: 1.5, ...here, unit: 'ms' },
      longest: { value: 3, ...here, unit: 'ms' },
      link: null,
    },
  },
  clock: null,
  topics: [
    {
      ...{ topic: '/tracked_pose', acknowledged: 'yes', messages: 20, rejected: 0, rateReason: null },
      ...{ rate: { value: 10, ...here, unit: 'Hz' }, age: { value: 50, ...here, unit: 'ms' } },
    },
    {
      ...{ topic: '/alerts', acknowledged: 'not-checked', messages: 0, rejected: 3 },
      ...{ rate: null, rateReason: 'no message received', age: null },
    },
  ],
  listenedMs: 2_000,
  poseUnit: { verdict: 'not-decided', samples: 20, largest: 0.5, reason: 'no full turn', doubt: null },
  relied: [
    {
      ...{ fact: 'angles.tracked-pose-ori', mark: 'BELEGT', basis: 'measured', orders: ['move'] },
      ...{ support: 'another-device', usable: true, contradictedHere: false, detail: 'x' },
    },
  ],
  condition: [notPressed],
  complaints: [],
  findings: [
    {
      ...{ id: 'pose-unit', title: 'Pose is in degrees', verdict: 'not-checked', detail: 'no full turn' },
      ...{ remedy: 'Turn it.', spec: 'Angles' },
    },
    asFinding(notPressed),
  ],
};

describe('gw chassis probe', () => {
  it('states the verdict in its first line, and shows values with unit, mark and source', () => {
    const text = plain(renderChassisProbe(probe));
    expect(firstLine(text)).toBe(
      'No fault found in 1 of 2 checks. Chassis SN-1 at 127.0.0.1:8090; not checked: pose unit.',
    );
    const all = { ...probe, findings: [asFinding(notPressed)] };
    expect(firstLine(renderChassisProbe(all))).toBe('ok: 1 of 1 checks. Chassis SN-1 at 127.0.0.1:8090.');
    expect(text).toMatch(/^-- {3}Pose is in degrees: no full turn$/m);
    expect(text).toMatch(/^latency, median +1\.5 ms +BELEGT measured here +measured here, now$/m);
    expect(text).toMatch(/^model +not reported/m);
    expect(text).toMatch(/^\/tracked_pose +yes +20 +0 +10\.0 Hz +0\.1 s$/m);
    expect(text).toMatch(/^\/alerts +not acknowledged +0 +3 +-- +not received$/m);
    expect(text).toMatch(/^The robot reports\nok {3}Emergency stop: not pressed$/m);
    expect(text).toMatch(/^Emergency stop +not pressed +HINWEIS +0\.3 s +vendor$/m);
  });

  it('reports the condition of the robot in its first line, and is not green without having received it', () => {
    const findings = [...probe.findings.slice(0, 1), asFinding(pressed), asFinding(unreceived)];
    const text = plain(renderChassisProbe({ ...probe, verdict: 'wrong', condition: [pressed, unreceived], findings }));
    expect(firstLine(text)).toBe(
      'FAILED: 1 of 3 checks. Chassis SN-1 at 127.0.0.1:8090: emergency stop PRESSED; not checked: pose unit, battery.',
    );
    expect(text).toMatch(/^FAIL Emergency stop: PRESSED\n {5}Release it\.$/m);
    expect(text).toMatch(/^-- {3}Battery: \/battery_state was not received$/m);
    expect(text).toMatch(/^Battery +not received +-- +-- +--$/m);
    expect(text).not.toContain('Nothing is wrong');
  });

  it('warns in its first line when the unit is in doubt', () => {
    const poseUnit = { ...probe.poseUnit, doubt: 'it passed a seam' };
    const text = renderChassisProbe({ ...probe, verdict: 'wrong', poseUnit });
    expect(firstLine(text)).toMatch(/^THE POSE MAY BE IN RADIANS\. Do not drive/);
  });

  it('alerts in its first line when the pose is in radians', () => {
    const findings = [{ ...probe.findings[0], verdict: 'wrong' } as ChassisProbe['findings'][number]];
    const poseUnit = { ...probe.poseUnit, verdict: 'radians' } as const;
    const text = renderChassisProbe({ ...probe, verdict: 'wrong', poseUnit, findings });
    expect(plain(text).split('\n').slice(0, 2)).toEqual([
      'THE POSE IS IN RADIANS. Do not drive this robot with gw.',
      'FAILED: 1 of 1 checks. Chassis SN-1 at 127.0.0.1:8090: pose unit.',
    ]);
  });
});

const none = { status: 'not-received' } as const;
const received = { status: 'received', ...vendor, ageMs: 1, stale: false } as const;
const view: ChassisView = {
  ...{ event: 'state', at: '2026-01-31T12:00:00.000Z', link: { kind: 'connected', tried }, linkForMs: 61_000 },
  roundTripMs: 12,
  identity: { serial: 'SN-1', model: null, software: '2.12.3', capabilities: {} },
  values: {
    pose: {
      ...{ status: 'received', value: { xM: 1.5, yM: -2, yawDeg: 90 }, ...vendor, source: 'vendor; specification' },
      ...{ unit: 'm, degrees', ageMs: 100, stale: true },
      parts: { xM: vendor, yawDeg: { mark: 'BELEGT', basis: 'measured', source: 'specification' } },
    },
    ...{ planning: none, battery: none, positioning: none },
    wheels: { ...received, value: { controlMode: 'auto', emergencyStopPressed: true } },
    alerts: { ...received, value: [{ code: 8501, level: 'warning', message: 'low\u001b[2J' }] },
    map: none,
  },
  poseUnit: { verdict: 'degrees', samples: 3, largest: 90, reason: '90.000 was seen', doubt: null },
  unitContradicted: false,
  condition: [pressed, unreceived],
  complaints: [{ what: 'malformed message: the JSON is cut off', count: 2, ageMs: 500, isLate: false }],
};

describe('gw chassis watch', () => {
  it('shows every value with mark, age and source, and missing values as not received', () => {
    const text = plain(renderChassisView(view));
    expect(firstLine(text)).toBe('connected to 127.0.0.1:8090, for 1 min');
    expect(text).toMatch(/^position +x 1\.50 m, y -2\.00 m +HINWEIS +0\.1 s, stale +vendor$/m);
    expect(text).toMatch(/^heading +90\.0 degrees +BELEGT measured +0\.1 s, stale +specification$/m);
    expect(text).toMatch(/^emergency stop +PRESSED +HINWEIS/m);
    expect(text).toMatch(/^battery +not received +--/m);
    expect(text).toContain('8501 warning: low\uFFFD[2J');
    expect(text).toContain('\n\nThe robot reports: emergency stop PRESSED\n');
    expect(text).toContain('complaint: malformed message: the JSON is cut off (2, last 0.5 s ago)');
    expect(renderChassisView({ ...view, unitContradicted: true })).toContain('RADIANS WERE PROVEN');
    const poseUnit = { ...view.poseUnit, verdict: 'not-decided' as const, doubt: 'it passed a seam' };
    expect(renderChassisView({ ...view, poseUnit })).toContain('IN DOUBT: do not drive');
    expect(renderChassisEvent({ ...view, poseUnit })).toContain('THE UNIT IS IN DOUBT: it passed a seam');
  });

  it('prints one line per event without a terminal', () => {
    const line = plain(renderChassisEvent(view));
    expect(line).not.toContain('\n');
    expect(line).toContain('2026-01-31T12:00:00.000Z connected to 127.0.0.1:8090');
    expect(line).toContain('heading 90.0 degrees (BELEGT measured, 0.1 s, stale)');
    expect(line).not.toContain('battery');
    expect(line).toContain('  The robot reports: emergency stop PRESSED  ');
    expect(line).toContain('  8501 warning: low\uFFFD[2J  ');
    expect(line).toContain('  complaint: malformed message: the JSON is cut off (2, last 0.5 s ago)');
    const away = { kind: 'not-connected', failure: 'no-answer', detail: 'nothing answered', tried } as const;
    const ended = plain(renderChassisEvent({ event: 'ended', watchedMs: 1_500, link: away }));
    expect(ended).toMatch(/^watched for 1\.5 s; at the end: not connected: tried .*, no answer: nothing answered$/);
  });
});

describe('the screen', () => {
  it('overwrites its lines in place with one write and never clears them first', () => {
    const writes: string[] = [];
    const screen = createScreen({ columns: 40, rows: 10, write: (text) => writes.push(text) });
    screen.show('one\ntwo\nthree');
    screen.show('uno');
    screen.end();
    expect(writes).toHaveLength(3);
    expect(writes[0]).toContain('\u001b[?25l');
    expect(writes[1]).toContain('\u001b[3A\r');
    expect(writes[1]).toContain('uno\u001b[K\n\u001b[J');
    expect(writes.join('')).not.toContain('\u001b[2J');
    expect(writes[2]).toBe('\u001b[?25h');
  });

  it('never wraps a line or scrolls the screen', () => {
    const writes: string[] = [];
    const screen = createScreen({ columns: 30, rows: 5, write: (text) => writes.push(text) });
    screen.show(Array.from({ length: 20 }, () => `\u001b[31m${'x'.repeat(100)}\u001b[39m`).join('\n'));
    const lines = plain(writes[0] ?? '')
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) expect([...line].length).toBeLessThan(30);
  });
});
