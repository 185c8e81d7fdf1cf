import type { Faults } from '../faults.ts';
import { createAlerts } from './alerts.ts';
import { type BatteryLoad, createBattery } from './battery.ts';
import { dock } from './floor/floor.ts';
import type { Point } from './floor/grid.ts';
import { createMapPlanner } from './maps/map-planner.ts';
import { chargersOn, createMapStore, type FloorMap } from './maps/map-store.ts';
import { createDeeds } from './motion/deeds.ts';
import { createDrive } from './motion/drive.ts';
import { headingRad, wrapRad } from './motion/heading.ts';
import type { PoseRad } from './motion/kinematics.ts';
import type { MoveOrder } from './motion/move-order.ts';
import { createMoves } from './motion/moves.ts';
import { createTurning } from './motion/turning.ts';

/** Parts of the state that are published on change. */
export type Aspect = 'planning' | 'wheels' | 'slam' | 'alerts' | 'map' | 'path';

export interface RobotOptions {
  readonly serial: string;
  /** Unix seconds. */
  readonly now: () => number;
  readonly faults: Faults;
  /** Maximum speed in metres per second, beside the settings; 1 by default. */
  readonly speedMS?: number;
  readonly onChange: (aspect: Aspect) => void;
}

const DOCKED_M = 0.1;
const DOCKED_RAD = 0.2;
const MAX_STEP_S = 0.05;
/** Full turns before the start, so that an unwrapped heading is far from 0. */
const TURNS_BEFORE = 7;

/** The state of the robot. Time advances by `step` only. */
export function createRobot(options: RobotOptions) {
  const { faults, onChange, speedMS = 1 } = options;
  const maps = createMapStore(options.serial, options.now);
  const drive = createDrive({ xM: dock.xM, yM: dock.yM, yawRad: headingRad(dock.yawDeg) }, () =>
    Math.min(speedMS, deeds.speedLimitMS(), speedLimitMS ?? 1),
  );
  /** By the settings. */
  let speedLimitMS: number | undefined;
  let softwareStop = false;
  let orderedMode = 'auto';
  // A new map needs a new pose (vendor facts 1.4).
  let hasPose = true;
  let turnedRad = drive.pose().yawRad + TURNS_BEFORE * 2 * Math.PI;
  let hasWheelError = false;

  const controlMode = (): string => (faults.is('manual-control') ? 'manual' : orderedMode);
  const emergencyStop = () => softwareStop || faults.is('emergency-stop');
  const isLocalised = () => maps.current() !== undefined && hasPose && !faults.is('localisation-lost');

  const isDocked = () => isAtDock(drive.pose());
  const planner = createMapPlanner(maps.current);
  const isRunning = () => !emergencyStop() && !hasWheelError && !faults.is('blocked');

  const isFree = (at: Point) => planner()?.isFree(at) ?? true;
  const mayMove = () => !moves.isMoving() && isRunning() && controlMode() !== 'manual';
  const deeds = createDeeds({ drive, faults, mayMove, isFree });

  const moves = createMoves({
    drive,
    deeds,
    now: options.now,
    planner,
    isCharging: isDocked,
    readsDegrees: () => faults.is('target-in-degrees'),
    charger: () => nearestCharger(maps.current(), drive.pose()),
    obstruction() {
      if (!isLocalised()) return 1000;
      return isRunning() && controlMode() === 'auto' ? undefined : 'stand';
    },
    onChange() {
      onChange('planning');
      onChange('path');
    },
  });

  const turning = createTurning({ drive, faults, isUnderWay: () => moves.isMoving() || deeds.goesOn() });
  const battery = createBattery(faults);

  function activeAlerts(): number[] {
    const codes: number[] = [];
    if (moves.stuckS() > 5) codes.push(1008);
    if (hasWheelError) codes.push(2006);
    if (maps.current() && !isLocalised()) codes.push(7005);
    if (battery.percentage() < 0.1) codes.push(8501);
    if (faults.is('alert-active')) codes.push(8004, 1012);
    return codes;
  }

  const alerts = createAlerts(activeAlerts, () => onChange('alerts'));

  function batteryLoad(): BatteryLoad {
    if (!drive.isStill()) return 'driving';
    return isDocked() ? 'charging' : 'idle';
  }

  function followTurn(): void {
    turnedRad += wrapRad(drive.pose().yawRad - turnedRad);
  }

  function smallStep(dt: number): void {
    if (faults.is('wheel-error')) hasWheelError = true;
    if (!turning.step(dt) && !deeds.stir(dt)) moves.step(dt);
    followTurn();
    battery.step(dt, batteryLoad());
  }

  return {
    maps,
    moves,
    isAtRest: (): boolean => drive.isStill(),
    pose: (): PoseRad => drive.pose(),
    /** The heading including all full turns since the start. */
    turnedRad: (): number => turnedRad,
    speedMS: (): number => drive.speed(),
    isDocked,
    isLocalised,
    emergencyStop,
    controlMode,
    battery: () => battery.report(batteryLoad()),
    alerts: alerts.list,

    order: (order: MoveOrder) => moves.create(order),
    /** Clears wheel errors, except those whose cause persists. */
    clearWheelErrors(): void {
      hasWheelError = faults.is('wheel-error');
      alerts.refresh();
    },
    setPose(pose: PoseRad): void {
      const yawRad = faults.is('pose-in-degrees') ? (pose.yawRad * Math.PI) / 180 : pose.yawRad;
      drive.setPose({ ...pose, yawRad });
      followTurn();
      turning.forget();
      hasPose = true;
      onChange('slam');
    },
    useMap(map: FloorMap): void {
      moves.abort(1003);
      maps.use(map);
      hasPose = false;
      onChange('map');
      onChange('slam');
    },
    /** A map was changed in place. */
    mapChanged: () => onChange('map'),
    setSoftwareStop(enable: boolean): void {
      softwareStop = enable;
      onChange('wheels');
    },
    speedLimitMS: () => speedLimitMS,
    /** In metres per second, kept over a restart of the robot's software; undefined for the default. */
    setSpeedLimit(limitMS: number | undefined): void {
      speedLimitMS = limitMS;
    },
    setControlMode(mode: string): void {
      orderedMode = mode;
      onChange('wheels');
    },
    /** Resets the state that a restart of the robot's software loses. */
    restart(): void {
      moves.abort(1000);
      softwareStop = false;
      orderedMode = 'auto';
      hasWheelError = false;
      if (faults.is('map-loss')) maps.lose();
    },
    /** Advances by elapsed real time in seconds. */
    step(seconds: number): void {
      for (let rest = Math.min(seconds, 1); rest > 1e-6; rest -= MAX_STEP_S) {
        smallStep(Math.min(rest, MAX_STEP_S));
      }
      alerts.refresh();
    },
  };
}

export type Robot = ReturnType<typeof createRobot>;

function isAtDock({ xM, yM, yawRad }: PoseRad): boolean {
  return (
    Math.hypot(xM - dock.xM, yM - dock.yM) < DOCKED_M &&
    Math.abs(wrapRad(yawRad - headingRad(dock.yawDeg))) < DOCKED_RAD
  );
}

/** The charger of the map that is nearest to this position. */
function nearestCharger(map: FloorMap | undefined, { xM, yM }: Point): PoseRad | undefined {
  const [nearest] = (map ? chargersOn(map) : []).toSorted(
    (a, b) => Math.hypot(a.xM - xM, a.yM - yM) - Math.hypot(b.xM - xM, b.yM - yM),
  );
  return nearest && { xM: nearest.xM, yM: nearest.yM, yawRad: headingRad(nearest.yawDeg) };
}
