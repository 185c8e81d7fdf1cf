import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { driveOutcome } from '../../src/cli/drive-command.ts';
import {
  renderMotionClear,
  renderMotionGo,
  renderMotionPose,
  renderMotionStop,
  renderTourRun,
} from '../../src/cli/render/motion.ts';
import { GwError } from '../../src/lib/error/index.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { driveTo, type MotionGoOptions } from '../../src/lib/toolkit/motion/go.ts';
import { setPose } from '../../src/lib/toolkit/motion/pose.ts';
import { openStopPlace, stopTheRobot } from '../../src/lib/toolkit/motion/stop.ts';
import { runTour } from '../../src/lib/toolkit/tour/run.ts';
import { context, type Story, startStory } from './story.ts';

interface Status {
  readonly gate: { readonly open: boolean; readonly reasons: readonly string[] };
  readonly stop: { readonly latched: boolean };
}

interface Move {
  readonly id: number;
  readonly state: string;
}

let story: Story;
/** The initial pose of the robot. */
let start: { readonly position: readonly number[]; readonly ori: number };

const status = () => story.operator('/api/touren') as Promise<Status>;
const moves = () => story.chassis('GET', '/chassis/moves') as Promise<Move[]>;
const place = (pose: object) => story.chassis('POST', '/chassis/pose', pose);
const isOpen = ({ gate }: Status) => gate.open;
const drives = () => story.until(moves, ([newest]) => newest?.state === 'moving');
const first = (text: string) => text.split('\n')[0];

const follow = { withinMs: 60_000, leaveRunning: false };
const go = async (more: Partial<MotionGoOptions> = {}, signal?: AbortSignal) =>
  await driveTo(await story.toolkit(), { station: 'C', ...follow, ...more }, context(signal));
const tour = async (more: object = {}, signal?: AbortSignal) =>
  await runTour(await story.toolkit(), { tour: 'demo', ...follow, ...more }, context(signal));
async function stop(more: { readonly port?: number } = {}) {
  const { place: stopped } = await openStopPlace({ sitePath: story.sitePath, port: more.port }, undefined);
  const data = await stopTheRobot(
    { ...stopped, clock: story.clock },
    { reason: 'drill', timeoutMs: 60_000 },
    context(),
  );
  return { data, text: renderMotionStop(data) };
}

type Driven = Parameters<typeof driveOutcome>[0];
const ended = <T extends Driven>(data: T, render: (data: T) => string) => ({
  ...driveOutcome(data),
  text: render(data),
});

beforeAll(async () => {
  story = await startStory();
  const { xM, yM, yawRad } = story.sim.state();
  start = { position: [xM, yM, 0], ori: yawRad };
  await story.startGateway();
});
afterAll(() => story?.[Symbol.asyncDispose]());

/** The robot stands at its initial pose, no stop is latched, and orders pass. */
beforeEach(async () => {
  for (const { name, on } of story.sim.faults()) if (on) await story.fault(name, false);
  await story.operator('/api/touren/lauf', { method: 'DELETE' });
  await story.chassis('PATCH', '/chassis/moves/current', { state: 'cancelled' });
  await story.until(
    () => story.sim.state().speedMS,
    (speedMS) => speedMS === 0,
  );
  await place(start);
  // While the robot does not stop, its stop cannot be cleared.
  await story.until(
    () => story.operator('/api/stopp') as Promise<{ readonly standstill: { readonly verdict: string } }>,
    ({ standstill }) => standstill.verdict !== 'drives-on',
  );
  await story.during(clearStop(await story.toolkit(), {}, context()));
  await story.until(status, isOpen);
});

describe('gw motion', () => {
  it('drives to a station and to the dock, stops, clears without any password, and sets the pose', async () => {
    const gone = await story.during(go({ station: 'A' }));
    expect(first(renderMotionGo(gone))).toBe('The robot stands at A, according to its reported pose.');
    expect(driveOutcome(gone).ok).toBe(true);
    expect(await story.during(go({ station: null }))).toMatchObject({
      ...{ to: null, state: 'succeeded', end: { station: 'the dock' } },
    });
    // By what the robot does, and not by what it reports.
    expect(story.sim.state()).toMatchObject({ docked: true, speedMS: 0 });

    const stopped = await story.during(stop());
    expect(stopped.text).toMatch(/^STOPPED:/);
    await expect(story.during(go({ station: 'A' }))).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('drill'),
    });
    const cleared = await story.during(clearStop(await story.toolkit(), {}, context()));
    expect(renderMotionClear(cleared)).toMatch(/^CLEARED: .*Orders may pass\.\n.*drill/);
    const again = await story.during(clearStop(await story.toolkit(), {}, context()));
    expect(renderMotionClear(again)).toMatch(/^No stop was latched/);

    const posed = await story.during(setPose(await story.toolkit(), { at: { dock: true } }, context()));
    expect(renderMotionPose(posed)).toContain('reports the pose that was set');
  });
});

describe('an interrupted drive', () => {
  it.each([
    ['a drive', async (signal: AbortSignal) => ended(await go({}, signal), renderMotionGo)],
    ['a tour', async (signal: AbortSignal) => ended(await tour({}, signal), renderTourRun)],
  ] as const)('%s is ended, without latching a stop', async (_, run) => {
    const before = new Set((await moves()).map(({ id }) => id));
    const person = new AbortController();
    const running = run(person.signal);
    await drives();
    person.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    const { exitCode, text } = await story.during<{ exitCode?: number; text: string }>(running);
    expect(exitCode).toBe(130);
    expect(text).toMatch(/^Interrupted: .* was ended; the robot stands\./);
    expect(story.sim.state().speedMS).toBe(0);
    const after = (await moves()).filter(({ id }) => !before.has(id));
    expect(after.map(({ state }) => state)).toEqual(['cancelled']);
    expect(await status()).toMatchObject({ stop: { latched: false }, gate: { open: true } });
  });

  it('continues with --leave-running', async () => {
    const person = new AbortController();
    const running = tour({ leaveRunning: true }, person.signal);
    await drives();
    person.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(story.during(running)).rejects.toMatchObject({
      exitCode: 130,
      message: expect.stringContaining('continues because of --leave-running'),
    });
    const { xM, yM } = story.sim.state();
    await story.clock.advance(4_000);
    expect((await moves())[0]?.state).not.toBe('cancelled');
    const now = story.sim.state();
    expect(Math.hypot(now.xM - xM, now.yM - yM)).toBeGreaterThan(0.5);
  });

  it.each([
    ['/api/fahrt', { station: 'C' }],
    ['/api/touren/lauf', { tour: 'demo' }],
  ])('is cancelled by the gateway where its command sends no sign of life: %s', async (path, order) => {
    const before = (await moves()).length;
    await story.operator(path, { method: 'POST', body: { ...order, keepAlive: true } });
    await drives();
    await story.until(moves, ([newest]) => newest?.state === 'cancelled');
    expect((await moves()).length).toBe(before + 1);
    expect((await story.until(status, isOpen)).stop.latched).toBe(false);
  });

  it('is ended at once by the gateway when another robot answers at the address', async () => {
    const running = go();
    await drives();
    await story.fault('wrong-serial', true);
    const data = await story.during(running);
    expect(driveOutcome(data).ok).toBe(false);
    expect(first(renderMotionGo(data))).toBe(
      'The drive to C failed, its end is not confirmed, but THE ROBOT MAY STILL BE MOVING: it was not seen to stand.',
    );
    expect(renderMotionGo(data)).toMatch(/Another chassis, \S+ answers at 127\.0\.0\.1/);
  });

  it('is never reported as ended while the chassis continues to drive', async () => {
    await story.fault('cancel-ignored', true);
    const person = new AbortController();
    const running = go({}, person.signal);
    await drives();
    person.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    const data = await story.during(running);
    expect(driveOutcome(data).exitCode).toBe(130);
    expect(renderMotionGo(data)).toMatch(
      /^Interrupted, and the end of the drive to C is not confirmed, but THE ROBOT IS STILL MOVING: press its emergency stop\./,
    );
    expect(renderMotionGo(data)).not.toContain('was ended');
  });
});

describe('gw motion stop', () => {
  it('stops the robot, and says so only when it stands', async () => {
    void tour().catch(() => {});
    await drives();
    const { text } = await story.during(stop());
    expect(first(text)).toMatch(/^STOPPED: latched/);
    expect(story.sim.state().speedMS).toBe(0);
    expect((await moves())[0]?.state).toBe('cancelled');
    expect((await status()).stop.latched).toBe(true);
  });

  it.each(['cancel-ignored', 'cancel-lies', 'coasting'] satisfies FaultName[])(
    'is no green STOPPED of a robot that drives on, whatever it reports: %s',
    async (fault) => {
      await story.fault(fault, true);
      void tour().catch(() => {});
      await drives();
      const { data, text } = await story.during(stop());
      expect(data.standstill).not.toBe('stands');
      expect(text).toMatch(/^STOP LATCHED, BUT THE ROBOT (DOES NOT STOP|IS STILL MOVING|COMPLETED ITS MOVE)/);
      expect(text).toMatch(/Press the emergency stop/);
      expect((await status()).gate.open).toBe(false);
    },
  );

  it('is no green STOPPED while the chassis is disconnected', async () => {
    await story.fault('cut', true);
    await story.until(status, ({ gate }) => gate.reasons.some((reason) => reason.startsWith('not connected')));
    const { text } = await story.during(stop());
    expect(text).toMatch(/^STOP LATCHED, BUT THE (MOVE STATE IS UNKNOWN|ROBOT DOES NOT STOP)/);
  });

  it('is delivered by the local socket when the network listener is blocked', async () => {
    // A port without a listener represents a full or broken socket.
    const { data } = await story.during(stop({ port: 1 }));
    expect(data).toMatchObject({ delivered: true, move: expect.any(String) });
    expect(data.ways.find(({ way }) => way === 'local-socket')).toMatchObject({ answer: 'latched' });
    expect((await status()).stop.latched).toBe(true);
  });
});
