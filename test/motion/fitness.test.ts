import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Alert } from '../../src/lib/chassis/index.ts';
import { judgeOrder, judgeState, passableAlerts } from '../../src/lib/motion/gate.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { openGate, received, withValues } from './snapshot.ts';
import { time } from './time.ts';

const flip: Alert = { code: 8004, level: 'error', message: 'flip error' };
const fall: Alert = { code: 1012, level: 'error', message: 'fall risk' };
const low: Alert = { code: 8501, level: 'warning', message: 'battery low' };
const gateWith = (alerts: readonly Alert[], although?: readonly number[], stale = false) =>
  openGate({ snapshot: withValues({ alerts: received(alerts, { stale }) }), ...(although && { although }) });
const inMode = (controlMode: string, although?: readonly number[]) =>
  openGate({
    snapshot: withValues({ wheels: received({ controlMode, emergencyStopPressed: false }) }),
    ...(although && { although }),
  });
const reasons = (kind: 'move' | 'dock' | 'pose', input: ReturnType<typeof openGate>) =>
  judgeState(kind, input).map(({ reason }) => reason);

describe('the gate, for the alerts of the robot', () => {
  it.each(['move', 'dock'] as const)('is closed for a %s order by each error, also an old one', (kind) => {
    expect(reasons(kind, gateWith([low, flip, fall], [], true))).toEqual([
      expect.stringMatching(/reports error 8004: flip error; .* by its number/),
      expect.stringMatching(/reports error 1012: fall risk/),
    ]);
  });

  it.each(['fatal', 'ERROR', '', 'Warning', 'unknown'])('counts the unknown level %j as an error', (level) => {
    expect(reasons('move', gateWith([{ ...low, level }]))).toHaveLength(1);
  });

  it.each(['warning', 'none'])('is open with alerts of level %s', (level) => {
    expect(reasons('move', gateWith([{ ...flip, level }]))).toEqual([]);
  });

  it('lets the pose be set, which drives nowhere', () => {
    expect(reasons('pose', gateWith([flip, fall]))).toEqual([]);
    expect(reasons('pose', inMode('manual'))).toEqual([]);
  });

  it('is closed by every other alert than those a person passes (property)', { tags: 'property' }, () => {
    const alert = fc.record({
      code: fc.integer({ min: 1, max: 6 }),
      level: fc.constantFrom('error', 'warning', 'none', 'odd'),
      message: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(alert), fc.array(fc.integer({ min: 1, max: 6 })), (alerts, although) => {
        const closing = alerts.filter(
          ({ code, level }) => ['error', 'odd'].includes(level) && !although.includes(code),
        );
        expect(reasons('move', gateWith(alerts, although))).toHaveLength(closing.length);
        expect(judgeOrder(moveTo(1, 2), gateWith(alerts, although)).length === 0).toBe(closing.length === 0);
      }),
    );
  });

  it.each(['manual', 'remote', 'unknown', 'MANUAL', ''])(
    'is closed in the control mode %j, which cannot be passed',
    (mode) => {
      expect(reasons('move', inMode(mode, [0, 8004]))).toEqual([expect.stringContaining(`control mode '${mode}'`)]);
    },
  );

  it('names as passable only alerts that alone close it', () => {
    expect(passableAlerts(gateWith([low, flip, fall, flip]))).toEqual([8004, 1012]);
    expect(passableAlerts(gateWith([low]))).toEqual([]);
    const stop = { latched: true, reason: 'drill', by: 'me', since: null };
    expect(passableAlerts({ ...gateWith([flip]), stop })).toEqual([]);
  });
});

describe('a drive', () => {
  rig.eachHasBench();
  const report = (...alerts: { code: number; level: string; msg: string }[]) => {
    rig.chassis.alerts = alerts;
    rig.chassis.publish('/alerts');
  };
  const raised = (code: number, level = 'error') => ({ code, level, msg: 'as reported' });

  it('does not start with an active error, except that a person passes each by its number', async () => {
    report(raised(8004), raised(1012));
    await rig.gate('closed');
    expect(rig.status().gate.passableAlerts).toEqual([8004, 1012]);
    await rig.refused(rig.motion.startTour('round'));
    await rig.refused(rig.motion.startTour('round', { although: [8004] }), 'MOTION_REFUSED', 'error 1012');
    await rig.refused(rig.motion.startDrive({ station: 'A' }, { although: [1012] }), 'MOTION_REFUSED', 'error 8004');
    expect(rig.moves()).toEqual([]);
    expect(await rig.motion.startTour('short', { although: [8004, 1012] })).toMatchObject({ although: [8004, 1012] });
    await rig.ordered();
    rig.succeed();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'succeeded', although: [8004, 1012] });
    // It was passed for that run only.
    await rig.refused(rig.motion.startTour('short'));
  });

  it.each([
    ['a new error', () => report(raised(8004)), /the robot reports error 8004: as reported/],
    ['an alert of an unknown level', () => report(raised(77, 'odd')), /alert 77 of the unknown level 'odd'/],
    [
      'another control mode',
      () => {
        rig.chassis.wheels = { control_mode: 'manual', emergency_stop_pressed: false };
        rig.chassis.publish('/wheel_state');
      },
      /the robot is in control mode 'manual'/,
    ],
  ])('is cancelled by %s on its way', async (_what, happen, why) => {
    await rig.motion.startTour('round', { although: [1012] });
    await rig.ordered();
    happen();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', at: 0, reason: expect.stringMatching(why) });
    expect([rig.moves().length, rig.cancels()]).toEqual([1, 1]);
  });

  it('is not cancelled by a warning, by no progress where it waits, or by an alert that was passed', async () => {
    await rig.motion.startTour('short', { although: [1012] });
    await rig.ordered();
    for (const alert of [raised(8501, 'warning'), raised(1008), raised(1012)]) {
      report(alert);
      await time.sleep(500);
      expect([rig.tour()?.state, rig.cancels()], `${alert.code}`).toEqual(['running', 0]);
    }
    // The report that cancels it, for comparison.
    report(raised(1013));
    await until(() => rig.cancels() > 0);
  });
});
