import { describe, expect, it } from 'vitest';
import type { ChassisSnapshot } from '../../src/lib/chassis/index.ts';
import { isMoving, releaseHealth } from '../../src/lib/gateway/cloud.ts';
import type { MotionStatus } from '../../src/lib/motion/index.ts';
import { moves, standingNotKnown, stands } from '../chassis/poses.ts';
import { standInMotion } from '../operator/stand-ins.ts';
import { chassisAfter } from './cloud-state/sources.ts';

const planning = (move_state: string) => ({
  ...{ topic: '/planning_state', action_id: 4, action_type: 'standard', move_state, fail_reason: 0 },
  ...{ fail_reason_str: 'none', remaining_distance: 0 },
});

function moving(messages: readonly object[], about: { status?: Partial<MotionStatus>; laterMs?: number } = {}) {
  const chassis = chassisAfter(...messages);
  const motion = standInMotion();
  motion.set(about.status ?? {});
  const link = { snapshot: () => ({ ...chassis.snapshot(), values: chassis.live.values() }) };
  return { chassis, answer: () => isMoving(link, motion) };
}

describe('whether the robot moves, for a release', () => {
  it.each<[string, ChassisSnapshot['standing'], string, boolean | null]>([
    ['drifts', moves, 'idle', true],
    ['drives on after its cancel', moves, 'cancelled', true],
    ['shows too few poses', standingNotKnown, 'idle', null],
    ['waits in front of an obstacle', stands, 'moving', true],
    ['stands', stands, 'cancelled', false],
    ['stands in an unknown state', stands, 'finished', null],
  ])('is judged by its poses where it %s', (_what, standing, state, expected) => {
    const { chassis } = moving([planning(state)]);
    const snapshot = () => chassis.snapshot({ standing });
    expect(isMoving({ snapshot }, standInMotion())).toBe(expected);
  });

  it('follows the reported state; in one of a newer software of the chassis it may move', () => {
    const answers = (states: readonly string[]) => states.map((state) => moving([planning(state)]).answer());
    const expected = [true, ...Array(5).fill(false)];
    expect(answers(['moving', 'none', 'idle', 'succeeded', 'failed', 'cancelled'])).toEqual(expected);
    expect(answers(['oscillating', 'finished', ''])).toEqual([null, null, null]);
  });

  it('is not known before the first message, nor from before a reconnect', () => {
    expect(moving([]).answer()).toBeNull();
    const { chassis, answer } = moving([planning('idle')]);
    expect(answer()).toBe(false);
    chassis.live.disconnect();
    chassis.live.connect();
    expect(answer()).toBeNull();
  });

  it('is not known without a connection to the chassis', () => {
    const { chassis } = moving([planning('idle')]);
    const link = { kind: 'booting', progress: null, stage: null } as never;
    expect(isMoving({ snapshot: () => chassis.snapshot({ link }) }, standInMotion())).toBeNull();
  });

  const tour = { id: 'r1', tour: 't', stations: ['A'], at: 0, outcomes: [], reason: null };
  it.each<[string, Partial<MotionStatus>]>([
    ['a trial', { trial: { kind: 'first-move' as never } }],
    ['a move that another program started', { unownedMove: { moveId: 4, type: 'standard', isBeingCancelled: false } }],
    ['a drive', { drive: { id: 'd1', kind: 'move', station: 'A', state: 'running', outcome: null, reason: null } }],
    ['a tour, also while the robot stands at a station', { tour: { ...tour, state: 'running' } }],
    ['a paused tour, which a restart would forget', { tour: { ...tour, state: 'paused' } }],
  ])('is true during %s', (_what, status) => {
    expect(moving([planning('idle')], { status }).answer()).toBe(true);
  });
});

describe('the health of a new version', () => {
  const service = (name: string, status: 'running' | 'restarting' | 'waiting') => ({
    ...{ name, status, restarts: 0, lastError: null, remedy: null, detail: '' },
  });
  const connected = { cloudName: 'cloud', isChassisConnected: true, isCloudConnected: true };
  const sound = { services: [service('chassis', 'running')], ...connected };

  it('needs every service but the cloud, which counts by its connection', () => {
    expect(releaseHealth(sound)).toEqual({ isHealthy: true, missing: null });
    expect(releaseHealth({ ...sound, services: [service('cloud', 'waiting')] }).isHealthy).toBe(true);
    const restarting = releaseHealth({ ...sound, services: [service('operator', 'restarting')] });
    expect(restarting).toEqual({ isHealthy: false, missing: 'operator is restarting.' });
  });

  it('names everything that is missing', () => {
    const services = [service('motion', 'waiting')];
    const health = releaseHealth({ ...sound, services, isChassisConnected: false, isCloudConnected: false });
    const missing = 'motion is waiting, the chassis is not connected, the cloud is not connected.';
    expect(health).toEqual({ isHealthy: false, missing });
  });
});
