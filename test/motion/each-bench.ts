import { afterEach, beforeEach, expect } from 'vitest';
import type { DriveOrder, Motion } from '../../src/lib/motion/index.ts';
import { type Bench, type BenchOptions, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';

/** Those of the present test, in a file that says so by `eachHasChassis` or `eachHasBench`. */
export let chassis: ScriptedChassis;
export let bench: Bench;
export let motion: Motion;

let opened: Bench[] = [];

export async function open(options: BenchOptions = {}): Promise<Bench> {
  bench = await startBench(chassis, options);
  motion = bench.motion;
  opened.push(bench);
  return bench;
}

export function eachHasChassis(how: Parameters<typeof startScriptedChassis>[0] = {}): void {
  beforeEach(async () => {
    chassis = await startScriptedChassis(how);
  });
  afterEach(async () => {
    for (const each of opened) await each[Symbol.asyncDispose]();
    opened = [];
    await chassis[Symbol.asyncDispose]();
  });
}

export function eachHasBench(optionsOf: () => BenchOptions = () => ({})): void {
  eachHasChassis();
  beforeEach(async () => void (await open(optionsOf())));
}

/** Motion on the same state, as after a restart of gw. */
export async function restart(limits?: BenchOptions['limits']): Promise<void> {
  await motion.stop();
  motion = await bench.again(limits);
}

export const status = () => motion.status();
export const tour = () => status().tour;
export const drive = () => status().drive;
export const planned = () => {
  const { planning } = bench.link.snapshot().values;
  return planning.status === 'received' ? planning.value.moveState : null;
};

const sent = (path: string) => chassis.orders.filter((order) => order.path === path);
export const moves = () => sent('/chassis/moves');
export const poses = () => sent('/chassis/pose');
export const cancels = () => sent('/chassis/moves/current').length;

/** Until the chassis has received so many orders to move. */
export const ordered = (count = 1) => until(() => moves().length >= count);
const isOver = (run: { state: string } | null) => run !== null && !['running', 'paused'].includes(run.state);
export const tourEnded = () => until(() => isOver(tour()));
export const driveEnded = () => until(() => isOver(drive()));
export const gate = (is: 'open' | 'closed') => until(() => status().gate.open === (is === 'open'));
export const connection = (is: 'connected' | 'not-connected') => until(() => bench.link.snapshot().link.kind === is);

export const stop = () => motion.stopRobot('person in the way', 'tablet');
export const succeed = () => chassis.plan({ move_state: 'succeeded' });
export const foreignMove = (id = 7_007) => chassis.plan({ action_id: id, move_state: 'moving' });
/** The connection is lost, and gw knows it. */
export async function lose(): Promise<void> {
  await chassis.cut();
  await connection('not-connected');
}

/** From here on the robot moves by so much along x before each of its poses. */
export function drifts(byM: number): void {
  chassis.beforePose = () => {
    const [xM, yM] = chassis.pose?.pos ?? [0, 0];
    if (chassis.pose !== null) chassis.pose = { ...chassis.pose, pos: [xM + byM, yM] };
  };
}

/** An order to move that the chassis has received, and its end. */
export async function begin(order: DriveOrder = moveTo(3, 4), signal?: AbortSignal) {
  const before = moves().length;
  const ended = motion.execute(order, signal);
  await ordered(before + 1);
  return { ended };
}

/** Until this order or run is refused with the code. */
export async function refused(
  work: Promise<unknown>,
  code = 'MOTION_REFUSED',
  says: string | RegExp = '',
): Promise<void> {
  const message = typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  await expect(work).rejects.toMatchObject({ code, message });
}
