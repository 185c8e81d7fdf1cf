import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import type { ChassisRobot, ChassisSeen } from '../../../src/lib/toolkit/replace/chassis-robot.ts';
import { chassisSteps } from '../../../src/lib/toolkit/replace/chassis-steps.ts';
import { isPassing, judge } from '../../../src/lib/toolkit/replace/step.ts';
import {
  archiveOf,
  chassisOf,
  deviceOf,
  EARLIER,
  evidenceOf,
  gatewayOf,
  identityOf,
  liveOf,
  NEW,
  OLD,
  recordsOf,
  SOFTWARE,
  seenOf,
  siteOf,
  THIRD,
  words,
} from './robots.ts';

const steps = chassisSteps({} as ChassisRobot);
const judged = (changes: Partial<ChassisSeen>) => {
  const seen = seenOf(changes);
  return steps.map((step) => judge(step, seen, { words: seen.words, command: 'gw replace chassis' }));
};
const verdictOf = (step: string, changes: Partial<ChassisSeen>) =>
  judged(changes).find(({ id }) => id === step)?.verdict;
const wordless = (step: string) => words.filter((one) => one.step !== step);
const gone = new GwError('CHASSIS_NOT_CONNECTED', 'not connected.');
const stale = { value: { uid: 'map-1', mapVersion: 3 }, isUnreadable: false, stale: 'no-connection', doubts: [] };
const onMap = (uid: string, mapVersion: number) => ({
  map: { value: { name: 'Other', uid, mapVersion }, isUnreadable: false, stale: null, doubts: [] },
});
const given = [...words, { step: 'old-maps', by: 'K. Maier', at: EARLIER, frame: 'replacement' }];
const ofMap = (plan: string) => [{ plan, name: 'Lobby', why: plan === 'same' ? null : 'recreated since' }] as never;

describe('the steps of a replaced chassis', () => {
  it('all hold where nothing is left to do, and the words of people are never ok', () => {
    const all = judged({});
    expect(all.filter((step) => !isPassing(step))).toEqual([]);
    const stated = ['address', 'revoked', 'position', 'places', 'other-robots'];
    expect(all.filter(({ verdict }) => verdict === 'stated').map(({ id }) => id)).toEqual(stated);
  });

  it.each<[step: string, what: string, verdict: string, changes: Partial<ChassisSeen>]>([
    [
      'old-maps',
      'no backup, while the old chassis answers',
      'open',
      { archive: null, chassis: chassisOf(OLD), site: siteOf(OLD) },
    ],
    ['old-maps', 'no backup, and the old chassis is gone', 'open', { archive: null, chassis: gone }],
    ['old-maps', 'a backup of a third robot', 'wrong', { archive: archiveOf({ serial: THIRD }) }],
    ['old-maps', 'a backup of the new chassis', 'wrong', { archive: archiveOf({ serial: NEW }) }],
    ['old-maps', 'another file at the path of the backup', 'wrong', { archive: archiveOf({ isSame: false }) }],
    ['old-maps', 'a backup that lacks a map', 'wrong', { archive: archiveOf({ isComplete: false }) }],
    ['old-maps', 'a backup that was deleted', 'wrong', { archive: new GwError('FILE_UNREADABLE', 'gone.') }],
    ['old-maps', 'a backup of earlier days', 'stated', { archive: archiveOf({ createdAt: EARLIER }) }],
    ['old-maps', 'maps that a person gave up', 'stated', { archive: null, words: given }],
    ['ended', 'a gateway that still runs with the old site file', 'open', { gateway: gatewayOf(OLD) }],
    ['ended', 'a gateway of a third robot', 'open', { gateway: gatewayOf(THIRD) }],
    [
      'ended',
      'a gateway that names no robot',
      'open',
      { gateway: gatewayOf(NEW, { robots: [{ place: 'p', serial: null }] }) },
    ],
    [
      'ended',
      'a program that holds its port and does not answer',
      'not-checked',
      { gateway: gatewayOf(null, { silent: ['port 5174'] }) },
    ],
    ['ended', 'ports that cannot be looked at', 'not-checked', { gateway: gatewayOf(null, { problem: 'no /proc' }) }],
    ['site-file', 'the old serial number', 'open', { site: siteOf(OLD) }],
    ['site-file', 'a third serial number', 'wrong', { site: siteOf(THIRD) }],
    ['site-file', 'the new one, while the old chassis answers', 'wrong', { chassis: chassisOf(OLD) }],
    ['site-file', 'the new one, while no chassis answers', 'not-checked', { chassis: chassisOf(null) }],
    ['site-file', 'fleet.robots of the old one', 'open', { site: siteOf(NEW, [OLD, 'SN9']) }],
    [
      'site-file',
      'an address that was named and not written',
      'open',
      { wanted: { host: '127.0.0.9', mac: undefined } },
    ],
    ['address', 'no word', 'open', { words: wordless('address') }],
    ['address', 'a word against a third chassis at the address', 'wrong', { chassis: chassisOf(THIRD) }],
    ['address', 'a word without an answer', 'not-checked', { chassis: gone }],
    ['identity', 'the identity of the old chassis', 'open', { identity: identityOf(OLD) }],
    ['identity', 'none', 'open', { identity: identityOf(null) }],
    ['identity', 'one that cannot be read', 'not-checked', { identity: new GwError('IDENTITY_BROKEN', 'damaged.') }],
    ['identity', 'one that is not valid', 'not-checked', { identity: { ...identityOf(NEW), verdict: 'not-checked' } }],
    ['identity', 'the old site file with the new identity', 'open', { site: siteOf(OLD) }],
    ['revoked', 'no word', 'open', { words: wordless('revoked') }],
    ['runs', 'none', 'open', { gateway: gatewayOf(null) }],
    ['runs', 'that of the old site file', 'wrong', { gateway: gatewayOf(OLD) }],
    [
      'runs',
      'one of the new and one of the old',
      'wrong',
      { gateway: gatewayOf(NEW, { robots: [...gatewayOf(NEW).robots, ...gatewayOf(OLD).robots] }) },
    ],
    ['runs', 'one that is connected to the old chassis', 'wrong', { gateway: gatewayOf(NEW, { live: liveOf(OLD) }) }],
    [
      'runs',
      'one without a chassis',
      'open',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, { link: { kind: 'booting', tried: '' } }) }) },
    ],
    [
      'runs',
      'state of the old one in use',
      'wrong',
      { gateway: gatewayOf(NEW, { claim: 'the state is that of SN1' }) },
    ],
    [
      'maps',
      'maps that are missing on the new chassis',
      'open',
      { copied: { verdict: 'to-do', maps: ofMap('missing') } },
    ],
    ['maps', 'a map that was made anew since', 'wrong', { copied: { verdict: 'incomplete', maps: ofMap('conflict') } }],
    [
      'maps',
      'maps that are stored, while it drives by others',
      'open',
      { copied: { verdict: 'stored-only', maps: [] } },
    ],
    ['maps', 'no comparison', 'not-checked', { copied: gone }],
    ['maps', 'a backup of a third robot that is equal', 'open', { archive: archiveOf({ serial: THIRD }) }],
    [
      'position',
      'no map',
      'open',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, { map: { ...stale, value: null } }) }) },
    ],
    [
      'position',
      'a map from before the connection was lost',
      'open',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, { map: stale }) }) },
    ],
    [
      'position',
      'a map that is none of the backup',
      'wrong',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, onMap('map-7', 1)) }) },
    ],
    [
      'position',
      'a word for another version of the map',
      'open',
      { gateway: gatewayOf(NEW, { live: liveOf(NEW, onMap('map-1', 4)) }) },
    ],
    [
      'position',
      'a lost position',
      'open',
      {
        gateway: gatewayOf(NEW, {
          live: liveOf(NEW, { pose: { value: { xM: 0, yM: 0 }, stale: null, doubts: ['position-lost'] } }),
        }),
      },
    ],
    ['unit', 'radians', 'wrong', { unit: { poseUnit: 'radians', unitContradicted: false, unitInDoubt: true } }],
    [
      'unit',
      'not decided, and evidence of the old chassis',
      'open',
      {
        unit: { poseUnit: 'not-decided', unitContradicted: false, unitInDoubt: false },
        device: deviceOf(evidenceOf(OLD, SOFTWARE)),
      },
    ],
    [
      'unit',
      'verified, and in doubt now',
      'open',
      { unit: { poseUnit: 'not-decided', unitContradicted: false, unitInDoubt: true } },
    ],
    ['trials', 'evidence of the old chassis', 'open', { device: deviceOf(evidenceOf(OLD, SOFTWARE)) }],
    ['trials', 'evidence with older software', 'open', { device: deviceOf(evidenceOf(NEW, '2.11.0')) }],
    [
      'trials',
      'evidence of a simulator on a robot',
      'open',
      { device: deviceOf(evidenceOf(NEW, SOFTWARE, { simulated: true })) },
    ],
    ['trials', 'evidence against a fact', 'wrong', { device: deviceOf(evidenceOf(NEW, SOFTWARE, { value: false })) }],
    ['trials', 'another chassis that answers', 'not-checked', { device: deviceOf(evidenceOf(OLD, SOFTWARE), OLD) }],
    ['trials', 'no chassis that answers', 'not-checked', { device: gone }],
    ['places', 'a word for another map', 'open', { gateway: gatewayOf(NEW, { live: liveOf(NEW, onMap('map-7', 1)) }) }],
    ['places', 'no word', 'open', { words: wordless('places') }],
    [
      'other-robots',
      'a heartbeat of the old one, against a word',
      'wrong',
      {
        gateway: gatewayOf(NEW, {
          live: liveOf(NEW, { neighbours: [{ serial: OLD, presence: 'alive', address: '127.0.0.5' }] }),
        }),
      },
    ],
    ['premises', 'none', 'open', { records: recordsOf() }],
    ['premises', 'one that was begun before the replacement', 'open', { records: recordsOf({ startedAt: EARLIER }) }],
    [
      'premises',
      'one that was there at the beginning, and was resumed',
      'open',
      { records: recordsOf({ id: 'run-0' }) },
    ],
    ['premises', 'one with another software', 'wrong', { records: recordsOf({ software: '2.11.0' }) }],
    ['premises', 'one that is not signed', 'not-checked', { records: recordsOf({ state: 'not-signed' }) }],
    ['premises', 'one that was altered', 'wrong', { records: recordsOf({ state: 'wrong' }) }],
    ['premises', 'one that is not complete', 'wrong', { records: recordsOf({ verdict: 'incomplete' }) }],
    ['premises', 'one that left steps out', 'wrong', { records: recordsOf({ leftOut: true }) }],
    ['premises', 'a newer one that failed', 'wrong', { records: recordsOf({ verdict: 'wrong' }, {}) }],
    ['premises', 'one of a simulated robot', 'wrong', { records: recordsOf({ simulated: true }) }],
    ['site', 'that of the old chassis alone', 'open', { oldRecords: recordsOf({ checklist: 'site' }) }],
    [
      'site',
      'records of the old chassis that cannot be read',
      'open',
      { oldRecords: { ...recordsOf(), notes: ['1 unreadable'] } },
    ],
  ])('%s: %s is %s', (step, _what, verdict, changes) => {
    expect(verdictOf(step, changes)).toBe(verdict);
  });

  it('name the verifications of the old chassis, which count no longer', () => {
    const lines = [...evidenceOf(OLD, SOFTWARE), ...evidenceOf(NEW, SOFTWARE)];
    const [trials] = judged({ device: { ...deviceOf(evidenceOf(NEW, SOFTWARE)), lines } }).filter(
      ({ id }) => id === 'trials',
    );
    expect(trials?.verdict).toBe('ok');
    expect(trials?.lines.at(-1)).toMatchObject({
      verdict: 'not-applicable',
      detail: expect.stringMatching(/^count no longer: .*vendor\.move\.cancel/),
    });
  });
});
