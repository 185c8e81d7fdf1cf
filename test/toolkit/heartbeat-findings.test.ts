import { describe, expect, it } from 'vitest';
import {
  type ExpectedFleet,
  fleetFindings,
  type HeardFleet,
  type Voice,
} from '../../src/lib/toolkit/heartbeat-findings.ts';

const site: ExpectedFleet = { own: 'SN-1', expected: ['SN-2', 'SN-3'], broadcast: true, unicast: [], seconds: 8 };
const voice = (serial: string, host: number): Voice => ({ serial, address: `192.0.2.${host}` });
const two = voice('SN-2', 2);
const three = voice('SN-3', 3);

function found(heard: Partial<HeardFleet>, changes: Partial<ExpectedFleet> = {}) {
  const all: HeardFleet = {
    voices: [two, three],
    byBroadcast: new Set(['SN-1', 'SN-2', 'SN-3']),
    conflicts: [],
    noise: [],
    hears: 'everything',
    notAsked: null,
    ...heard,
  };
  const findings = fleetFindings({ ...site, ...changes }, all);
  // Whoever finds something wrong is told what to do about it.
  for (const { verdict, remedy } of findings) expect(remedy !== null).toBe(verdict === 'wrong');
  const of = (id: string) => findings.find((finding) => finding.id === id) ?? expect.fail(`nothing of ${id}`);
  return { of, verdicts: Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict])) };
}

const silence = { voices: [], byBroadcast: new Set<string>() };

describe('what is found of a fleet', () => {
  it('is nothing wrong when every robot is heard, by broadcast, and nobody else', () => {
    expect(found({}).verdicts).toEqual({
      'robot-SN-2': 'ok',
      'robot-SN-3': 'ok',
      strangers: 'ok',
      broadcast: 'ok',
      conflicts: 'ok',
      noise: 'ok',
    });
    expect(found({}).of('robot-SN-2').detail).toBe('heard from 192.0.2.2');
  });

  it('is wrong of a robot that is not heard, and of each that is not of the site', () => {
    const { of, verdicts } = found({ voices: [two, voice('SN-9', 9), voice('SN-8', 8)] });
    expect(verdicts).toMatchObject({ 'robot-SN-2': 'ok', 'robot-SN-3': 'wrong', strangers: 'wrong' });
    expect(of('robot-SN-3').detail).toBe('not heard in 8 s');
    expect(of('strangers').detail).toBe('SN-9, SN-8 have the key and are not in fleet.robots');
    expect(found({ voices: [two, three, voice('SN-1', 1)] }).of('strangers').verdict).toBe('ok');
  });

  it('is that broadcast is filtered only where somebody else is heard by another way', () => {
    const filtered = { byBroadcast: new Set(['SN-1']) };
    expect(found(filtered).of('broadcast').verdict).toBe('wrong');
    expect(found({ ...filtered, voices: [voice('SN-1', 1)] }).of('broadcast').verdict).toBe('not-checked');
    expect(found(filtered, { broadcast: false }).of('broadcast').verdict).toBe('not-checked');
  });

  it('is of each unicast address whether somebody speaks from there', () => {
    const { of } = found({}, { unicast: ['192.0.2.2', '192.0.2.77'] });
    expect(of('unicast-192.0.2.2')).toMatchObject({ verdict: 'ok', detail: 'SN-2 speaks from there' });
    expect(of('unicast-192.0.2.77').verdict).toBe('wrong');
  });

  it('is a serial of two devices with both their addresses, once each', () => {
    const { of } = found({ conflicts: [two, voice('SN-2', 7), two] });
    expect(of('conflicts')).toMatchObject({ verdict: 'wrong', detail: 'SN-2 from 192.0.2.2, SN-2 from 192.0.2.7' });
  });

  it('is who speaks wrongly, and how, without what did not happen', () => {
    const none = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
    const noise = [
      { ...none, address: '192.0.2.9', otherKey: 4, malformed: 1 },
      { ...none, address: null, forged: 2 },
    ];
    const { of } = found({ noise });
    expect(of('noise').detail).toBe('192.0.2.9 (4 other key, 1 malformed), more addresses (2 forged)');
  });

  it('is not checked, rather than right, where nothing was heard or nobody could be asked', () => {
    expect(found(silence, { expected: [] }).verdicts).toEqual({
      robots: 'not-checked',
      strangers: 'not-checked',
      broadcast: 'not-checked',
      conflicts: 'not-checked',
      noise: 'not-checked',
    });
    expect(found(silence).verdicts.strangers).toBe('not-checked');
    expect(found({ hears: 'broadcasts' }).of('noise').detail).toContain('was not looked at');
    const { of, verdicts } = found({ ...silence, notAsked: 'no answer' }, { unicast: ['192.0.2.2'] });
    expect(verdicts).toMatchObject({
      'robot-SN-2': 'not-checked',
      'unicast-192.0.2.2': 'not-checked',
      conflicts: 'not-checked',
      strangers: 'not-checked',
    });
    expect(of('robot-SN-2').detail).toContain('no answer');
  });
});
