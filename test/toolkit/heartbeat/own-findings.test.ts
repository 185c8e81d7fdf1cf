import { describe, expect, it } from 'vitest';
import type { ExpectedFleet, Observed } from '../../../src/lib/toolkit/heartbeat/findings.ts';
import type { GatewayCounts } from '../../../src/lib/toolkit/heartbeat/gateway.ts';
import { ownFindings } from '../../../src/lib/toolkit/heartbeat/own-findings.ts';
import type { Arrival } from '../../../src/lib/toolkit/heartbeat/timing.ts';

const site: ExpectedFleet = {
  own: 'SN-1',
  expected: ['SN-2'],
  isAlone: false,
  broadcast: true,
  unicast: ['192.0.2.2'],
  seconds: 10,
};
const every = (periodMs: number): Arrival[] =>
  Array.from({ length: 5 }, (_, index) => ({ atMs: index * periodMs, sequence: index, uptimeS: null, boot: 'own' }));

const gateway = (serial = 'SN-1', failure: string | null = null, accepted = 5): GatewayCounts => ({
  last: {
    status: 'listening',
    lastTest: null,
    robots: [],
    rejected: null,
    isTableFull: null,
    ownSerialFrom: null,
    sending: { serial, heartbeats: 17, lastAgeMs: 300, ways: [{ to: '192.0.2.2', from: null, accepted: 17, failure }] },
  },
  rejected: { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 },
  accepted: new Map([['192.0.2.2', accepted]]),
});

function found(sending: Partial<Observed>, changes: Partial<ExpectedFleet> = {}) {
  const all: Observed = {
    ...{ senders: [], byBroadcast: new Set(), conflicts: [], noise: [], replayed: [] },
    timed: new Map([[null, every(2_000)]]),
    receives: 'broadcasts',
    sources: ['192.0.2.1'],
    copies: new Map([['192.0.2.1', every(2_000)]]),
    gateway: gateway(),
    queryFailure: null,
    ...sending,
  };
  const findings = ownFindings({ ...site, ...changes }, all);
  for (const { verdict, remedy } of findings) expect(remedy !== null).toBe(verdict === 'wrong');
  const of = (id: string) => findings.find((finding) => finding.id === id) ?? expect.fail(`nothing of ${id}`);
  return { of, verdicts: Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict])) };
}

describe('the findings on the own heartbeat', () => {
  it('state what was measured, and claim no arrival', () => {
    const { of, verdicts } = found({});
    expect(verdicts).toEqual({
      'own-serial': 'ok',
      'own-broadcast': 'ok',
      'own-unicast-192.0.2.2': 'ok',
      'own-period': 'ok',
    });
    expect(of('own-broadcast')).toMatchObject({
      title: 'Own broadcasts leave the kernel (looped-back copies)',
      detail: '5 from 192.0.2.1 in 10 s; arrival can be checked only on the other robot',
    });
    expect(of('own-unicast-192.0.2.2').detail).toBe(
      '5 by the counter of the gateway; arrival can be checked only on the other robot',
    );
  });

  it('are wrong where gw serve does not run, and none of them ok', () => {
    const { verdicts } = found({ receives: 'everything', copies: new Map(), gateway: null, timed: new Map() });
    expect(verdicts).toEqual({
      'own-serial': 'wrong',
      'own-broadcast': 'wrong',
      'own-unicast-192.0.2.2': 'wrong',
      'own-period': 'not-checked',
    });
  });

  it('are wrong where the gateway runs and no copy is received, of one interface or of none', () => {
    expect(found({ copies: new Map() }).of('own-broadcast').verdict).toBe('wrong');
    expect(found({ sources: ['192.0.2.1', '198.51.100.1'] }).of('own-broadcast')).toMatchObject({
      verdict: 'wrong',
      detail: 'no copy of a broadcast from 198.51.100.1 in 10 s',
    });
    expect(found({ sources: [], copies: new Map() }).of('own-broadcast').verdict).toBe('wrong');
  });

  it('are wrong where the operating system refuses, where nothing is sent meanwhile, and where the list was not read', () => {
    expect(found({ gateway: gateway('SN-1', 'EPERM') }).of('own-unicast-192.0.2.2')).toMatchObject({
      verdict: 'wrong',
      detail: 'failed: EPERM',
    });
    expect(found({ gateway: gateway('SN-1', null, 0) }).of('own-unicast-192.0.2.2').verdict).toBe('wrong');
    expect(found({}, { unicast: ['192.0.2.3'] }).of('own-unicast-192.0.2.3').verdict).toBe('wrong');
  });

  it('are wrong where a gateway of another serial sends here, or one that sends nothing', () => {
    expect(found({ gateway: gateway('SN-7') }).of('own-serial')).toMatchObject({
      verdict: 'wrong',
      detail: 'the running gateway sends with serial SN-7',
    });
    const silent = gateway();
    expect(found({ gateway: { ...silent, last: { ...silent.last, sending: null } } }).of('own-serial').verdict).toBe(
      'wrong',
    );
  });

  it('are not checked where the gateway does not answer', () => {
    const { verdicts } = found({ gateway: null, queryFailure: 'no answer', copies: new Map(), timed: new Map() });
    expect(verdicts).toMatchObject({ 'own-serial': 'not-checked', 'own-unicast-192.0.2.2': 'not-checked' });
    expect(verdicts['own-period']).toBe('not-checked');
  });

  it('are wrong at another period than 2 s, by its copies and by its counter', () => {
    expect(found({ copies: new Map([['192.0.2.1', every(1_000)]]) }).of('own-period').verdict).toBe('wrong');
    const slow = { copies: new Map(), timed: new Map([[null, every(3_000)]]) };
    expect(found(slow, { broadcast: false }).of('own-period').verdict).toBe('wrong');
  });

  it('are never ok without destinations in the site file, also for a single robot', () => {
    const nowhere = { broadcast: false, unicast: [] };
    expect(found({}, nowhere).verdicts).toEqual({ own: 'wrong' });
    expect(found({}, { ...nowhere, expected: [] }).verdicts).toEqual({ own: 'not-checked' });
    expect(found({}, { ...nowhere, expected: [], isAlone: true }).verdicts).toEqual({ own: 'not-checked' });
  });
});
