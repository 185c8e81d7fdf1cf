import { GwError } from '../../../src/lib/error/index.ts';
import type { EvidenceRecord } from '../../../src/lib/evidence/index.ts';
import { factsDecidedBy } from '../../../src/lib/motion/index.ts';
import type { PageState } from '../../../src/lib/pages/index.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import type { ChassisAddress } from '../../../src/lib/toolkit/chassis/chassis.result.ts';
import type { KeptRecords } from '../../../src/lib/toolkit/checklist/kept-records.ts';
import type { EnrolStatus } from '../../../src/lib/toolkit/enrol/enrol.result.ts';
import type { ArchiveSeen, ChassisSeen } from '../../../src/lib/toolkit/replace/chassis-robot.ts';
import type { GatewaySeen } from '../../../src/lib/toolkit/replace/seen.ts';

/** A robot whose chassis SN1 was replaced by SN2, as it is seen where every step holds; each part can be another one. */

export const [OLD, NEW, THIRD] = ['SN1', 'SN2', 'SN3'] as const;
export const SOFTWARE = '2.12.3';
export const BEGUN = '2026-05-01T10:00:00.000Z';
export const LATER = '2026-05-01T12:00:00.000Z';
export const EARLIER = '2026-04-30T12:00:00.000Z';

const siteText = (serial: string, robots = [serial, 'SN9']) =>
  [
    'name: Lobby',
    `chassis: { host: 127.0.0.1, port: 8090, serial: ${serial} }`,
    'stations: { A: { xM: 1, yM: 2, yawDeg: 0 } }',
    'dock: { xM: 0, yM: 0, yawDeg: 0 }',
    'maps: { lobby: { uid: map-1, version: 3 } }',
    `fleet: { keyFile: key, robots: [${robots.join(', ')}] }`,
    'enrolment: { url: "https://127.0.0.1:1/", identityDir: identity }',
    '',
  ].join('\n');

export const siteOf = (serial: string, robots?: string[]) => parseSite(siteText(serial, robots), '/etc/gw/site.yaml');

export const chassisOf = (found: string | null): ChassisAddress =>
  ({
    state: found === null ? 'not-connected' : 'connected',
    detail: found === null ? 'no answer' : 'answers',
    serial: { verdict: 'ok', expected: NEW, found },
    mac: { verdict: 'not-checked', expected: null, found: null, detail: 'a loopback address has no hardware address' },
    software: SOFTWARE,
    remedy: found === null ? 'Check power.' : null,
  }) as ChassisAddress;

export const identityOf = (serial: string | null): EnrolStatus =>
  ({
    state: serial === null ? 'not-enrolled' : 'enrolled',
    verdict: serial === null ? 'wrong' : 'ok',
    identity: serial === null ? null : { serial, certificate: { subject: `CN=${serial}` } },
    findings: [],
  }) as unknown as EnrolStatus;

const noLive = <T>(value: T) => ({ value, isUnreadable: false, stale: null, doubts: [] });

/** What is read of the live state. */
export const liveOf = (serial: string, changes: object = {}): PageState =>
  ({
    link: { kind: 'connected', tried: '127.0.0.1:8090' },
    identity: { serial },
    lamps: [{ id: 'cloud', level: 'good' }],
    map: noLive({ name: 'Lobby', uid: 'map-1', mapVersion: 3, overlaysVersion: 1 }),
    pose: noLive({ xM: 1, yM: 1 }),
    neighbours: [],
    stop: { latched: false },
    ...changes,
  }) as unknown as PageState;

export const gatewayOf = (serial: string | null, changes: Partial<GatewaySeen> = {}): GatewaySeen => ({
  robots: serial === null ? [] : [{ place: 'port 5173', serial }],
  silent: [],
  problem: null,
  unit: 'none',
  live: serial === null ? new GwError('OPERATOR_NOT_REACHABLE', 'no gateway answers.') : liveOf(serial),
  claim: null,
  others: [OLD],
  ...changes,
});

export const archiveOf = (changes: Partial<ArchiveSeen> = {}): ArchiveSeen => ({
  ...{ path: '/var/lib/gw/old.tar.gz', serial: OLD, createdAt: LATER, isSame: true, isComplete: true, lacks: [] },
  uids: ['map-1'],
  ...changes,
});

/** Every trial of this chassis with this software. */
export const evidenceOf = (serial: string, software: string, changes: Partial<EvidenceRecord> = {}): EvidenceRecord[] =>
  Object.values(factsDecidedBy)
    .flat()
    .map((fact) => ({ fact, value: true, serial, software, how: 'a trial', who: 'K. Maier', when: LATER, ...changes }));

export const deviceOf = (records: readonly EvidenceRecord[], serial: string = NEW) => ({
  ...{ serial, software: SOFTWARE, simulated: false, records, lines: records },
});

interface RecordChanges {
  readonly id?: string;
  readonly checklist?: string;
  readonly startedAt?: string;
  readonly software?: string;
  readonly state?: KeptRecords['records'][number]['state'];
  readonly verdict?: string;
  readonly interrupted?: boolean;
  readonly leftOut?: boolean;
  readonly simulated?: boolean;
}

export const recordsOf = (...all: readonly RecordChanges[]): KeptRecords => ({
  folder: '/var/lib/gw/records',
  notes: [],
  records: all.map((one) => {
    const { checklist = 'premises', startedAt = LATER, software = SOFTWARE, state = 'verified', verdict = 'ok' } = one;
    return {
      ...{
        path: '/var/lib/gw/records/r.json',
        state,
        subject: { startedAt, endedAt: startedAt, verdict, deviations: 0 },
      },
      record: {
        id: one.id ?? 'run-1',
        checklist: { name: checklist },
        interrupted: one.interrupted ?? false,
        leftOut: one.leftOut ?? false,
      },
      robot: { software: { value: software }, simulated: one.simulated ?? false },
    } as unknown as KeptRecords['records'][number];
  }),
});

const word = (step: string, frame = 'replacement') => ({ step, by: 'K. Maier', at: LATER, frame });

const MAP = 'map map-1 version 3';

export const words = [
  ...['address', 'revoked', 'other-robots'].map((step) => word(step)),
  ...['position', 'places'].map((step) => word(step, MAP)),
];

export const seenOf = (changes: Partial<ChassisSeen> = {}): ChassisSeen => ({
  begunAt: BEGUN,
  known: ['run-0'],
  site: siteOf(NEW),
  chassis: chassisOf(NEW),
  gateway: gatewayOf(NEW),
  identity: identityOf(NEW),
  device: deviceOf(evidenceOf(NEW, SOFTWARE)),
  records: recordsOf({}),
  unit: { poseUnit: 'degrees', unitContradicted: false, unitInDoubt: false },
  ...{ from: OLD, to: NEW, old: { mac: null, host: '127.0.0.1' }, words, archive: archiveOf() },
  copied: { verdict: 'nothing-to-do', maps: [] },
  wanted: { host: undefined, mac: undefined },
  oldRecords: recordsOf(),
  ...changes,
});
