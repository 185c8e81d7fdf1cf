import type { Faults } from '../faults.ts';
import { dock } from './floor/floor.ts';
import type { Point } from './floor/grid.ts';
import { createPlanner, type Planner } from './floor/plan.ts';
import { chargersOn, createMapStore, type FloorMap, gridForPlanning } from './maps/map-store.ts';
import { createDeeds } from './motion/deeds.ts';
import { createDrive } from './motion/drive.ts';
import { headingRad, wrapRad } from './motion/heading.ts';
import type { PoseRad } from './motion/kinematics.ts';
import type { MoveOrder } from './motion/move-order.ts';
import { createMoves } from './motion/moves.ts';

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
/** Fraction of the charge per second: a day of idling, 1.5 hours of driving, two hours of charging. */
const battery = {
  start: 0.86,
  idlePerS: 1e-5,
  drivingPerS: 2e-4,
  chargingPerS: 1.4e-4,
  low: 0.06,
  unsure: 0.41,
  nearlyEmpty: 0.01,
} as const;
/** About 100 degrees per second, a full circle within four seconds. */
const SPIN_RAD_S = 1.75;
const MAX_STEP_S = 0.05;
/** Faults during which the robot turns, so that the unit of its heading becomes visible. */
const turning = ['radians', 'radians-0-2pi', 'radians-unwrapped', 'turned-by-hand'] as const;
/** Full turns before the start, so that an unwrapped heading is far from 0. */
const TURNS_BEFORE = 7;

/** Alerts by number (vendor facts 2, HINWEIS). */
const alertTexts: Readonly<Record<number, readonly [level: 'error' | 'warning', msg: string]>> = {
  1008: ['error', 'no progress'],
  1012: ['error', 'fall risk'],
  2006: ['error', 'wheel error'],
  7005: ['error', 'position lost'],
  8004: ['error', 'flip error'],
  8501: ['warning', 'battery low'],
};

/** The state of the robot. Time advances by `step` only. */
export function createRobot(options: RobotOptions) {
  const { faults, onChange, speedMS = 1 } = options;
  const maps = createMapStore(options.serial, options.now);
  const drive = createDrive({ xM: dock.xM, yM: dock.yM, yawRad: headingRad(dock.yawDeg) }, () =>
    Math.min(speedMS, deeds.speedLimitMS(), speedLimitMS ?? 1),
  );
  /** By the settings. */
  let speedLimitMS: number | undefined;
  let charge: number = battery.start;
  let softwareStop = false;
  let orderedMode = 'auto';
  // A new map needs a new pose (vendor facts 1.4).
  let hasPose = true;
  let planner: { map: FloorMap; planner: Planner } | undefined;
  let headingBeforeSpin: number | undefined;
  let turnedRad = drive.pose().yawRad + TURNS_BEFORE * 2 * Math.PI;
  let alertCodes: readonly number[] = [];
  let hasWheelError = false;

  const controlMode = (): string => (faults.is('manual-control') ? 'manual' : orderedMode);
  const emergencyStop = () => softwareStop || faults.is('emergency-stop');
  const isLocalised = () => maps.current() !== undefined && hasPose && !faults.is('localisation-lost');

  function isDocked(): boolean {
    const { xM, yM, yawRad } = drive.pose();
    return (
      Math.hypot(xM - dock.xM, yM - dock.yM) < DOCKED_M &&
      Math.abs(wrapRad(yawRad - headingRad(dock.yawDeg))) < DOCKED_RAD
    );
  }

  function currentPlanner(): Planner | undefined {
    const map = maps.current();
    if (!map) return undefined;
    if (planner?.map !== map) planner = { map, planner: createPlanner(gridForPlanning(map)) };
    return planner.planner;
  }

  /** The charger of the map that is nearest to the robot. */
  function nearestCharger(): PoseRad | undefined {
    const map = maps.current();
    const { xM, yM } = drive.pose();
    const [nearest] = (map ? chargersOn(map) : []).toSorted(
      (a, b) => Math.hypot(a.xM - xM, a.yM - yM) - Math.hypot(b.xM - xM, b.yM - yM),
    );
    return nearest && { xM: nearest.xM, yM: nearest.yM, yawRad: headingRad(nearest.yawDeg) };
  }

  const isRunning = () => !emergencyStop() && !hasWheelError && !faults.is('blocked');

  const isFree = (at: Point) => currentPlanner()?.isFree(at) ?? true;
  const mayMove = () => !moves.isMoving() && isRunning() && controlMode() !== 'manual';
  const deeds = createDeeds({ drive, faults, mayMove, isFree });

  const moves = createMoves({
    drive,
    deeds,
    now: options.now,
    planner: currentPlanner,
    isCharging: isDocked,
    readsDegrees: () => faults.is('target-in-degrees'),
    charger: nearestCharger,
    obstruction() {
      if (!isLocalised()) return 1000;
      return isRunning() && controlMode() === 'auto' ? undefined : 'stand';
    },
    onChange() {
      onChange('planning');
      onChange('path');
    },
  });

  function activeAlerts(): number[] {
    const codes: number[] = [];
    if (moves.stuckS() > 5) codes.push(1008);
    if (hasWheelError) codes.push(2006);
    if (maps.current() && !isLocalised()) codes.push(7005);
    if (percentage() < 0.1) codes.push(8501);
    if (faults.is('alert-active')) codes.push(8004, 1012);
    return codes;
  }

  function percentage(): number {
    if (faults.is('battery-unsure')) return battery.unsure;
    if (faults.is('battery-low')) return battery.low;
    return faults.is('battery-to-100') ? battery.nearlyEmpty : charge;
  }

  function refreshAlerts(): void {
    const codes = activeAlerts();
    if (codes.join() === alertCodes.join()) return;
    alertCodes = codes;
    onChange('alerts');
  }

  /** Turns while one of those faults is on, and back to the previous heading afterwards. */
  function spin(dt: number): boolean {
    const isIdle = !isUnderWay() && !faults.is('spinning');
    if (isIdle && turning.some((name) => faults.is(name))) {
      headingBeforeSpin ??= drive.pose().yawRad;
      drive.spin(dt, SPIN_RAD_S);
      return true;
    }
    if (isIdle && headingBeforeSpin !== undefined) drive.go([{ kind: 'turn', yawRad: headingBeforeSpin }]);
    headingBeforeSpin = undefined;
    return false;
  }

  /** By its report, or against it. */
  function isUnderWay(): boolean {
    return moves.isMoving() || deeds.goesOn();
  }

  function followTurn(): void {
    turnedRad += wrapRad(drive.pose().yawRad - turnedRad);
  }

  function smallStep(dt: number): void {
    if (faults.is('wheel-error')) hasWheelError = true;
    if (!spin(dt) && !deeds.stir(dt)) moves.step(dt);
    followTurn();
    const charging = isDocked() && drive.isStill();
    const rate = charging ? battery.chargingPerS : drive.isStill() ? -battery.idlePerS : -battery.drivingPerS;
    charge = Math.max(0.02, Math.min(1, charge + rate * dt));
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
    battery: () => {
      const charging = isDocked() && drive.isStill();
      const full = faults.is('battery-unsure') || (charging && percentage() >= 0.999);
      return {
        percentage: percentage(),
        status: full ? 'full' : charging ? 'charging' : 'discharging',
        // Negative while charging (vendor facts).
        currentA: full ? 0 : charging ? -4.8 : drive.isStill() ? 0.9 : 3.6,
        voltageV: 22 + 4 * percentage(),
      };
    },
    alerts: () =>
      alertCodes.map((code) => ({
        code,
        level: alertTexts[code]?.[0] ?? 'error',
        msg: alertTexts[code]?.[1] ?? '',
      })),

    order: (order: MoveOrder) => moves.create(order),
    /** Clears wheel errors, except those whose cause persists. */
    clearWheelErrors(): void {
      hasWheelError = faults.is('wheel-error');
      refreshAlerts();
    },
    setPose(pose: PoseRad): void {
      const yawRad = faults.is('pose-in-degrees') ? (pose.yawRad * Math.PI) / 180 : pose.yawRad;
      drive.setPose({ ...pose, yawRad });
      followTurn();
      headingBeforeSpin = undefined;
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
      refreshAlerts();
    },
  };
}

export type Robot = ReturnType<typeof createRobot>;
