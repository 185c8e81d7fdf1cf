import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { gatewaySteps, type NewGatewaySeen } from '../../../src/lib/toolkit/replace/gateway-steps.ts';
import { isPassing, judge } from '../../../src/lib/toolkit/replace/step.ts';
import {
  BEGUN,
  chassisOf,
  deviceOf,
  EARLIER,
  evidenceOf,
  gatewayOf,
  identityOf,
  LATER,
  liveOf,
  NEW,
  OLD,
  recordsOf,
  SOFTWARE,
  siteOf,
} from './robots.ts';

const steps = gatewaySteps({ enrol: async () => false, start: async () => false });
const words = ['old-off', 'revoked', 'latch'].map((step) => ({
  step,
  by: 'K. Maier',
  at: LATER,
  frame: step === 'revoked' ? 'certificate 01' : 'replacement',
}));
const enrolledAt = (serial: string, at: string, fingerprintSha256 = '01') => {
  const status = identityOf(serial);
  const certificate = { subject: `CN=${serial}`, fingerprintSha256 };
  return { ...status, identity: { ...status.identity, enrolledAt: at, certificate } } as typeof status;
};
const files = (verdict: 'ok' | 'wrong' | 'not-checked') => ({
  ...{ valid: verdict !== 'wrong', problems: [] },
  findings: [{ id: 'heartbeat-key', title: 'Key', verdict, detail: '', remedy: null }],
});
const doctor = (verdict: 'ok' | 'wrong' | 'not-checked', need: 'needed' | 'optional' = 'needed') => ({
  verdict,
  lines: [{ id: 'disk', title: 'Disk', verdict, detail: '', remedy: null, spec: null, group: 'disk' as const, need }],
});
const seen: NewGatewaySeen = {
  begunAt: BEGUN,
  known: ['run-0'],
  site: siteOf(NEW),
  chassis: chassisOf(NEW),
  gateway: gatewayOf(NEW),
  identity: enrolledAt(NEW, LATER),
  device: deviceOf(evidenceOf(NEW, SOFTWARE)),
  records: recordsOf({}),
  unit: { poseUnit: 'degrees', unitContradicted: false, unitInDoubt: false },
  files: files('ok'),
  doctor: doctor('ok'),
  ownFrom: null,
};
const judged = (changes: Partial<NewGatewaySeen>, given = words) =>
  steps.map((step) => judge(step, { ...seen, ...changes }, { words: given, command: 'gw replace gateway' }));
const verdictOf = (step: string, ...given: Parameters<typeof judged>) =>
  judged(...given).find(({ id }) => id === step)?.verdict;
const gone = new GwError('OPERATOR_NOT_REACHABLE', 'not connected.');

describe('the steps of a replaced gateway', () => {
  it('all hold where nothing is left to do, and the words of people are never ok', () => {
    const all = judged({});
    expect(all.filter((step) => !isPassing(step))).toEqual([]);
    expect(all.filter(({ verdict }) => verdict === 'stated').map(({ id }) => id)).toEqual([
      'old-off',
      'revoked',
      'latch',
    ]);
  });

  it.each<[step: string, what: string, verdict: string, changes: Partial<NewGatewaySeen>]>([
    ['files', 'a secret that was not restored', 'wrong', { files: files('wrong') }],
    ['files', 'a secret that cannot be looked at', 'not-checked', { files: files('not-checked') }],
    ['old-off', 'heartbeats of the old one, against a word', 'wrong', { ownFrom: '127.0.0.7' }],
    ['old-off', 'a gateway that cannot be asked', 'not-checked', { ownFrom: gone }],
    ['chassis', 'another one', 'wrong', { chassis: chassisOf(OLD) }],
    ['chassis', 'no answer', 'not-checked', { chassis: chassisOf(null) }],
    ['identity', 'none', 'open', { identity: identityOf(null) }],
    ['identity', 'that of another robot', 'open', { identity: enrolledAt(OLD, LATER) }],
    ['revoked', 'a word for the identity before', 'open', { identity: enrolledAt(NEW, LATER, '02') }],
    ['revoked', 'no enrolment', 'not-applicable', { identity: null }],
    ['runs', 'none', 'open', { gateway: gatewayOf(null) }],
    [
      'latch',
      'a stop that is latched, against a word',
      'wrong',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, { stop: { latched: true, since: null } }) }) },
    ],
    ['latch', 'no gateway that could say it', 'not-checked', { gateway: gatewayOf(null) }],
    ['trials', 'none in the evidence file', 'open', { device: deviceOf([]) }],
    ['trials', 'restored, of older software', 'open', { device: deviceOf(evidenceOf(NEW, '2.11.0')) }],
    ['doctor', 'a fault', 'wrong', { doctor: doctor('wrong') }],
    ['doctor', 'a line that was not checked', 'not-checked', { doctor: doctor('not-checked') }],
    ['doctor', 'nothing that was checked', 'not-checked', { doctor: doctor('not-checked', 'optional') }],
    [
      'premises',
      'a record that was restored, and a clock that was wrong then',
      'open',
      { records: recordsOf({ id: 'run-0' }) },
    ],
    [
      'premises',
      'a record beside one that cannot be read, which may be newer',
      'not-checked',
      { records: { ...recordsOf({}), notes: ['1 of the files cannot be read as records'] } },
    ],
    ['premises', 'a record of the old gateway, restored', 'open', { records: recordsOf({ startedAt: EARLIER }) }],
  ])('%s: %s is %s', (step, _what, verdict, changes) => {
    expect(verdictOf(step, changes)).toBe(verdict);
  });

  it('asks for the revocation of an identity that was enrolled before the replacement began, too', () => {
    expect(verdictOf('revoked', { identity: enrolledAt(NEW, EARLIER) }, [])).toBe('open');
  });

  it.each(['old-off', 'revoked', 'latch'])('%s is open without the word of a person', (step) => {
    expect(verdictOf(step, {}, [])).toBe('open');
  });
});
