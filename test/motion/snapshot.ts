import { degrees } from '../../src/lib/angle/index.ts';
import type { ChassisSnapshot, LiveValue } from '../../src/lib/chassis/index.ts';
import { type EvidenceRecord, known } from '../../src/lib/evidence/index.ts';
import { factsOfOrder, type GateInput } from '../../src/lib/motion/gate.ts';
import { stands } from '../chassis/poses.ts';

export const SERIAL = 'TEST-0001';
export const SOFTWARE = '2.12.3';
/** The map on which the tests measure their places, as the site file and as the topic name it. */
export const ground = { uid: 'map-ground', version: 3, title: 'Ground floor' } as const;
const tried = { address: '127.0.0.1', port: 8090 };

export function received<T>(value: T, over: { ageMs?: number; stale?: boolean } = {}): LiveValue<T> {
  return { ...known(value, 'HINWEIS', 'vendor', 'test'), status: 'received', ageMs: 100, stale: false, ...over };
}

/** A robot ready for orders: connected, the right serial, reliable position. */
export function readySnapshot(over: Partial<ChassisSnapshot> = {}): ChassisSnapshot {
  const notReceived = { status: 'not-received' } as const;
  return {
    link: { kind: 'connected', tried },
    linkForMs: 10_000,
    roundTripMs: 12,
    identity: { serial: SERIAL, model: 'm1', software: SOFTWARE, capabilities: {} },
    values: {
      pose: received({ xM: 1, yM: 2, yawDeg: degrees(90) }),
      planning: notReceived,
      battery: notReceived,
      wheels: received({ controlMode: 'auto', emergencyStopPressed: false }),
      positioning: received({ state: 'positioning', reliable: true }),
      alerts: notReceived,
      map: received({ name: ground.title, uid: ground.uid, mapVersion: ground.version, overlaysVersion: 1 }),
    },
    poses: [],
    standing: stands,
    poseUnit: { verdict: 'degrees', samples: 10, largest: 179, reason: 'an |ori| beyond 2π was seen', doubt: null },
    unitContradicted: false,
    complaints: [],
    ...over,
  };
}

export function withValues(values: Partial<ChassisSnapshot['values']>): ChassisSnapshot {
  const ready = readySnapshot();
  return { ...ready, values: { ...ready.values, ...values } };
}

/** A record for every fact that any order relies on, for this serial and software. */
export function recordsFor(serial = SERIAL, software = SOFTWARE): EvidenceRecord[] {
  return [...new Set(Object.values(factsOfOrder).flat())]
    .filter((fact) => fact.startsWith('vendor.'))
    .map((fact) => ({
      ...{ fact, value: true, serial, software },
      ...{ how: 'driven and watched', who: 'test', when: '2026-01-31T12:00:00Z' },
    }));
}

export function openGate(over: Partial<GateInput> = {}): GateInput {
  return {
    snapshot: readySnapshot(),
    site: { chassis: { serial: SERIAL }, motion: { requireVerified: false } },
    records: recordsFor(),
    evidenceTrouble: null,
    stop: { latched: false, reason: null, by: null, since: null },
    keepingTrouble: null,
    isCancelPending: false,
    stopProof: null,
    isUnderWay: false,
    places: [ground],
    unownedMove: null,
    isMoveAwaited: false,
    ...over,
  };
}
