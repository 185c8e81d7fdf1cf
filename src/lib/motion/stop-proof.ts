import { type ChassisSnapshot, judgeAfterStop, shownUnit } from '../chassis/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { StopProof } from './model.ts';
import { createRestWatch } from './rest-watch.ts';

/**
 * After this time without proof a person decides, by clearing the stop on site: poses that scatter too much never prove
 * a standstill. Project decision.
 */
const PERSON_DECIDES_AFTER_MS = 15_000;

/** The chassis has so long to accept a cancel before a robot that drives on raises the alarm. Project decision. */
const ACCEPTED_WITHIN_MS = 1_000;

interface Owed {
  readonly sinceMs: number;
  acknowledgedAtMs: number | null;
  /** Once said, it holds until the robot is proven to stand. */
  alarm: string | null;
}

export interface StopProofs {
  /** The chassis reports a move, also one that it resumes: the robot sets out, and may gain speed for a while. */
  began(): void;
  /** An order of gw is about to be sent, or another client has ordered a move: its movement is ordered. */
  ordered(): void;
  /** A verdict of gw says that the robot stands: for a while it must not drive off without an order. */
  rested(): void;
  /** A cancel is about to be sent. A repeated one does not begin anew: the way counts from the first. */
  requested(): void;
  /** The chassis answered a cancel. */
  acknowledged(): void;
  /** The chassis answered one since the robot was last seen to stand. */
  isAcknowledged(): boolean;
  /**
   * What is still to be proven, from the poses of this snapshot; null: nothing was cancelled, or the robot stands. A robot
   * that drives off after it has stood does not obey.
   */
  current(snapshot: ChassisSnapshot): StopProof | null;
  /**
   * A person on site says that the robot stands, and has it from here on. As a proof it is ignored while the poses say that
   * it drives on, or may still prove it.
   */
  confirm(by: string): void;
}

/**
 * Every cancel must be followed by a standstill: an acknowledged cancel, and a move reported as ended, are words of the
 * chassis; its poses are the deed.
 */
export function createStopProofs({
  clock,
  log,
  onDisobeyed,
}: {
  readonly clock: Clock;
  readonly log: Log;
  /** Called while the robot does not obey an accepted cancel, with what is seen. */
  readonly onDisobeyed?: (reason: string) => void;
}): StopProofs {
  let owed: Owed | null = null;
  const rest = createRestWatch(clock);
  let beganAtMs: number | null = null;

  function raise(open: Owed, reason: string): void {
    if (open.alarm !== null) return;
    open.alarm = reason;
    log.error({ reason }, 'the robot does not stop after a cancel');
  }

  /** A robot that drives off after it has stood owes its standstill again. */
  function reopenWhereItDrivesOff(snapshot: ChassisSnapshot): void {
    const found = owed === null ? rest.driveOff(snapshot) : null;
    if (found === null) return;
    owed = { sinceMs: clock.monotonicMs(), acknowledgedAtMs: found.restedFromMs, alarm: null };
    raise(owed, found.reason);
    onDisobeyed?.(found.reason);
  }

  function detailOf(open: Owed, snapshot: ChassisSnapshot): { readonly proven: boolean; readonly reason: string } {
    const nowMs = clock.monotonicMs();
    const { link, poses, poseUnit } = snapshot;
    const { verdict, reason } = judgeAfterStop({
      poses,
      nowMs,
      unit: shownUnit(poseUnit),
      // A robot that arrives while it is cancelled has nothing left to accept: only its way since then is disobedience.
      acknowledgedAtMs: open.acknowledgedAtMs ?? open.sinceMs,
      orderedAtMs: beganAtMs,
    });
    if (open.acknowledgedAtMs === null) {
      const notAccepted = 'the chassis has not accepted the cancel';
      const isRefused = nowMs - open.sinceMs > ACCEPTED_WITHIN_MS && link.kind === 'connected';
      if (isRefused && verdict === 'drives-on') raise(open, `${notAccepted}, and ${reason}`);
      return { proven: false, reason: notAccepted };
    }
    if (verdict === 'drives-on') {
      raise(open, reason);
      // Not of a cancel that was never accepted: a person who pushes the robot by hand looks the same.
      onDisobeyed?.(reason);
    }
    return { proven: verdict === 'stands', reason };
  }

  return {
    began() {
      beganAtMs = clock.monotonicMs();
    },
    ordered: rest.end,
    rested: rest.begin,
    requested() {
      owed ??= { sinceMs: clock.monotonicMs(), acknowledgedAtMs: null, alarm: null };
    },
    acknowledged() {
      if (owed !== null) owed.acknowledgedAtMs ??= clock.monotonicMs();
    },
    isAcknowledged: () => owed !== null && owed.acknowledgedAtMs !== null,
    current(snapshot) {
      reopenWhereItDrivesOff(snapshot);
      if (owed === null) return null;
      const { proven, reason } = detailOf(owed, snapshot);
      if (proven) {
        log.info({ reason }, 'the robot stands after the cancel');
        owed = null;
        rest.begin();
        return null;
      }
      const { alarm, acknowledgedAtMs, sinceMs } = owed;
      return {
        verdict: alarm === null ? 'awaited' : 'drives-on',
        reason: alarm ?? reason,
        acknowledged: acknowledgedAtMs !== null,
        forMs: Math.round(clock.monotonicMs() - sinceMs),
      };
    },
    confirm(by) {
      rest.end();
      if (owed === null || owed.alarm !== null || clock.monotonicMs() - owed.sinceMs < PERSON_DECIDES_AFTER_MS) return;
      log.warn({ by }, 'no pose proves that the robot stands; a person on site decided');
      owed = null;
    },
  };
}
