import { describe, expect, it } from 'vitest';
import {
  type ExpectedFleet,
  fleetFindings,
  type Observed,
  type Sender,
} from '../../../src/lib/toolkit/heartbeat/findings.ts';
import type { Arrival } from '../../../src/lib/toolkit/heartbeat/timing.ts';
import { has } from '../kit.ts';

const site: ExpectedFleet = {
  own: 'SN-1',
  expected: ['SN-2', 'SN-3'],
  isAlone: false,
  broadcast: true,
  unicast: [],
  seconds: 10,
};
const sender = (serial: string, host: number): Sender => ({ serial, address: `192.0.2.${host}` });
const two = sender('SN-2', 2);
const three = sender('SN-3', 3);
const none = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 };

const every = (periodMs: number, uptimeOf = (index: number) => (index * periodMs) / 1000): Arrival[] =>
  Array.from({ length: 5 }, (_, index) => ({
    atMs: index * periodMs,
    sequence: 7 + index,
    uptimeS: uptimeOf(index),
    boot: 'one',
  }));

/** The counters of a gateway that rejected these meanwhile. */
const rejecting = (rejected: typeof none, isTableFull = false): Pick<Observed, 'gateway'> => ({
  gateway: {
    ...{ rejected, accepted: new Map<string, number>() },
    last: {
      ...{ status: 'listening', robots: [], rejected, isTableFull },
      ...{ ownSerialFrom: null, lastTest: null, sending: null },
    },
  },
});

function found(received: Partial<Observed>, changes: Partial<ExpectedFleet> = {}) {
  const all: Observed = {
    senders: [two, three],
    timed: new Map([
      ['SN-2', every(2_000)],
      ['SN-3', every(2_010)],
    ]),
    byBroadcast: new Set(['SN-1', 'SN-2', 'SN-3']),
    conflicts: [],
    noise: [],
    replayed: [],
    ...rejecting(none),
    sources: ['192.0.2.1'],
    copies: new Map([['192.0.2.1', []]]),
    receives: 'broadcasts',
    queryFailure: null,
    ...received,
  };
  const findings = fleetFindings({ ...site, ...changes }, all);
  // Every failed finding has a remedy.
  for (const { verdict, remedy } of findings) expect(remedy !== null).toBe(verdict === 'wrong');
  const of = (id: string) => findings.find((finding) => finding.id === id) ?? expect.fail(`nothing of ${id}`);
  return { of, verdicts: Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict])) };
}

const silence = { senders: [], timed: new Map(), byBroadcast: new Set<string>() };

describe('the findings on the other robots of a fleet', () => {
  it('are ok when every robot is received, by broadcast, every 2 s, and no other', () => {
    expect(found({}).verdicts).toEqual({
      'robot-SN-2': 'ok',
      'period-SN-2': 'ok',
      'robot-SN-3': 'ok',
      'period-SN-3': 'ok',
      strangers: 'ok',
      broadcast: 'ok',
      conflicts: 'ok',
      replays: 'ok',
      uptime: 'ok',
      noise: 'ok',
    });
    expect(found({}).of('robot-SN-2').detail).toBe('from 192.0.2.2');
    expect(found({}).of('period-SN-3')).toMatchObject({
      detail: '2.01 s (median 2.01 s) over 4 intervals (time of arrival); 2 s by the specification, tolerance ±10 %',
      spec: 'Limits',
    });
  });

  it('are wrong for a silent robot, and for each that is not of the site', () => {
    const { of, verdicts } = found({ senders: [two, sender('SN-9', 9), sender('SN-8', 8)] });
    expect(verdicts).toMatchObject({ 'robot-SN-2': 'ok', 'robot-SN-3': 'wrong', strangers: 'wrong' });
    expect(of('robot-SN-3').detail).toBe('not received within 10 s');
    expect(of('strangers').detail).toBe('not in fleet.robots, but signed with the site key: SN-9, SN-8');
  });

  it('are wrong for a robot that sends too often, and undecided for one that was received once', () => {
    const timed = new Map([
      ['SN-2', every(1_000)],
      ['SN-3', every(2_000).slice(0, 1)],
    ]);
    const { of, verdicts } = found({ timed });
    expect(verdicts).toMatchObject({ 'period-SN-2': 'wrong', 'period-SN-3': 'not-checked', uptime: 'not-checked' });
    expect(of('period-SN-2').detail).toContain('1.00 s (median 1.00 s) over 4 intervals');
  });

  it('are wrong for a robot whose clock jumps, although its heartbeats arrive in time', () => {
    const timed = new Map([
      ['SN-2', every(2_000, (index) => (index % 2) * 7_000_000)],
      ['SN-3', every(2_000)],
    ]);
    expect(found({ timed }).of('uptime')).toMatchObject({ verdict: 'wrong', detail: has('SN-2 by 69999') });
  });

  it('report filtered broadcast only where another robot is received by another route', () => {
    const filtered = { byBroadcast: new Set(['SN-1']) };
    expect(found(filtered).of('broadcast').verdict).toBe('wrong');
    expect(found({ ...filtered, senders: [] }).of('broadcast').verdict).toBe('not-checked');
    expect(found(filtered, { broadcast: false }).of('broadcast').verdict).toBe('not-applicable');
  });

  it('state for each unicast address whether heartbeats arrive from it', () => {
    const { of } = found({}, { unicast: ['192.0.2.2', '192.0.2.77'] });
    expect(of('unicast-192.0.2.2')).toMatchObject({ verdict: 'ok', detail: 'sent by SN-2' });
    expect(of('unicast-192.0.2.77').verdict).toBe('wrong');
  });

  it('list a serial of two devices with both addresses, once each', () => {
    const { of } = found({ conflicts: [two, sender('SN-2', 7), two] });
    expect(of('conflicts')).toMatchObject({ verdict: 'wrong', detail: 'SN-2 from 192.0.2.2, SN-2 from 192.0.2.7' });
  });

  it('list each rejected datagram by its kind, received here or counted by the gateway only', () => {
    const noise = [
      { ...none, address: '192.0.2.9', otherKey: 4, malformed: 1 },
      { ...none, address: null, forged: 2 },
    ];
    const { of } = found({ noise });
    expect(of('noise').detail).toBe('192.0.2.9 (4 other key, 1 malformed), more addresses (2 forged)');
    const unicast = found(rejecting({ ...none, otherKey: 5, replayed: 3 }));
    expect(unicast.of('noise')).toMatchObject({ verdict: 'wrong', detail: 'rejected by the gateway: 5 other key' });
    expect(unicast.of('replays')).toMatchObject({ verdict: 'wrong', detail: '3 rejected as replayed by the gateway' });
  });

  it('report a full table of serials, even without a foreign robot in the list of the gateway', () => {
    const { of } = found(rejecting({ ...none, tableFull: 4 }, true));
    expect(of('strangers')).toMatchObject({
      verdict: 'wrong',
      detail: has('4 heartbeats of new serials rejected'),
      remedy: has('change the site key'),
    });
    const alone = found({ ...silence, ...rejecting(none, true) }, { expected: [], isAlone: true });
    expect(alone.of('strangers').verdict).toBe('wrong');
  });

  it('are not applicable for a robot named as the only one, never ok', () => {
    const { of, verdicts } = found(silence, { expected: [], isAlone: true });
    expect(verdicts).toEqual({
      robots: 'not-applicable',
      strangers: 'ok',
      broadcast: 'not-applicable',
      conflicts: 'ok',
      replays: 'ok',
      uptime: 'not-applicable',
      noise: 'ok',
    });
    expect(of('robots').detail).toBe('fleet.robots lists SN-1 only');
    expect(found({ senders: [two] }, { expected: [], isAlone: true }).of('strangers').verdict).toBe('wrong');
  });

  it('are not checked, rather than ok, where no robot is named', () => {
    const { of, verdicts } = found(silence, { expected: [] });
    expect(verdicts).toMatchObject({ robots: 'not-checked', strangers: 'not-checked', broadcast: 'not-checked' });
    expect(of('robots').detail).toContain('fleet.robots: [SN-1]');
    expect(found({ senders: [two] }, { expected: [] }).of('strangers')).toMatchObject({
      verdict: 'not-checked',
      detail: 'received: SN-2; fleet.robots is empty',
    });
  });

  it('are not checked where nothing was received and nothing shows that receiving works', () => {
    const deaf = { ...silence, gateway: null, copies: new Map(), receives: 'everything' as const };
    expect(found(deaf, { expected: [], isAlone: true }).verdicts).toMatchObject({
      strangers: 'not-checked',
      conflicts: 'not-checked',
      replays: 'not-checked',
      noise: 'not-checked',
    });
    expect(found(deaf).verdicts).toMatchObject({ 'robot-SN-2': 'wrong', uptime: 'not-checked' });
  });

  it('are not checked where the gateway has the port and does not answer', () => {
    const { of, verdicts } = found(
      { ...silence, gateway: null, queryFailure: 'no answer' },
      { unicast: ['192.0.2.2'] },
    );
    expect(verdicts).toMatchObject({
      'robot-SN-2': 'not-checked',
      'unicast-192.0.2.2': 'not-checked',
      conflicts: 'not-checked',
      strangers: 'not-checked',
      replays: 'not-checked',
      noise: 'not-checked',
    });
    expect(of('robot-SN-2').detail).toContain('no answer');
  });
});
