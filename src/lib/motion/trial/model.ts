import type { EvidenceAdoption, FactIdMarked } from '../../evidence/index.ts';

/** A supervised first order of its own kind: it accepts a HINWEIS while a person on site watches, to verify it. */
export const trialKinds = ['stop', 'move', 'pose', 'dock'] as const;
export type TrialKind = (typeof trialKinds)[number];

/** What only a person on site can say; or that nobody is there, which only a chassis that is simulated accepts. */
export type TrialConditions =
  | { readonly unattended: true }
  | {
      readonly unattended?: false | undefined;
      /** The robot will move, or take itself for turned; nobody is surprised by it. */
      readonly robotWillMove: boolean;
      /** Nothing and nobody within 1.5 m of the robot and of its way. */
      readonly spaceFree: boolean;
      /** A hand on the emergency stop. */
      readonly emergencyStopInHand: boolean;
    };

export interface TrialRequest {
  readonly kind: TrialKind;
  /** Who stands beside the robot: stands in every record. */
  readonly who: string;
  readonly conditions: TrialConditions;
  /** `move` and `stop`: the course on the map, in degrees counter-clockwise, 0 along +x. Absent: as the robot looks. */
  readonly towardsDeg?: number | undefined;
  /** `move`: 0.3 to 1 m. */
  readonly distanceM?: number | undefined;
}

/**
 * What happened against what a fact says. 'not-decided': it was not seen, or could have been otherwise; it is neither
 * green nor a contradiction, and no record is written.
 */
export type TrialVerdict = 'holds' | 'differs' | 'not-decided';

type TrialFactId = FactIdMarked<'BELEGT' | 'HINWEIS'>;

export interface TrialFinding {
  readonly fact: TrialFactId;
  readonly verdict: TrialVerdict;
  /** One sentence with the numbers. */
  readonly why: string;
  /** What is recorded; null where nothing is decided. */
  readonly value: string | boolean | null;
}

/**
 * - verified: every fact on trial holds.
 * - contradicted: at least one differs.
 * - not-decided: none differs, and not all of them hold.
 * - refused: nothing was ordered.
 * - cancelled: it was ended before its end; nothing holds by it.
 */
export type TrialOutcome = 'verified' | 'contradicted' | 'not-decided' | 'refused' | 'cancelled';

/** A trial as it is now, without its samples: what the routes answer. */
export interface TrialView {
  readonly id: string;
  readonly kind: TrialKind;
  readonly who: string;
  readonly state: 'running' | 'ended';
  /** What it does now, for the person beside the robot. */
  readonly phase: string;
  /** Set when the person must act at once: press the emergency stop. */
  readonly alarm: string | null;
  readonly startedAgoMs: number;
  /** The chassis that it was, and what it said of itself. */
  readonly serial: string | null;
  readonly software: string | null;
  readonly simulated: boolean;
  /** Null while it runs. */
  readonly outcome: TrialOutcome | null;
  /** Why it ended so, for a person; null while it runs. */
  readonly reason: string | null;
  readonly facts: readonly TrialFinding[];
  /** Why nothing was ordered; empty unless the outcome is 'refused'. */
  readonly refusals: readonly string[];
  /** What else is worth knowing. */
  readonly notes: readonly string[];
  /** The file with samples and verdicts, beside the evidence file; null while it runs and where it could not be kept. */
  readonly report: { readonly file: string; readonly sha256: string } | null;
  /** Facts about which a record was written. */
  readonly recorded: readonly string[];
}

/** The side of the motion service that trials have. */
export interface Trials {
  /**
   * Begins a trial and answers at once; it goes on in the background. Throws USAGE for a request that is none, and what
   * the gate says: MOTION_REFUSED, MOTION_STOPPED, TOUR_RUNNING, CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
   * CHASSIS_WRONG_DEVICE. A refusal by the gate is written down too.
   */
  start(request: TrialRequest): Promise<TrialView>;
  /** A sign of life of whoever began it: without one for 3 s it is cancelled. Null when there is no trial of this id. */
  keepAlive(id: string): TrialView | null;
  /** Ends the running trial, whoever began it; resolves when the robot was told. Null when there was never one. */
  cancel(why: string): Promise<TrialView | null>;
  /** The running or the last trial of this life of the daemon. */
  view(): TrialView | null;
  /**
   * Reads the evidence file anew and lets all of it count, as after a restart: only for a signed-in person on site; the
   * caller has checked that. Throws EVIDENCE_FILE_INVALID.
   */
  adoptEvidence(): Promise<EvidenceAdoption>;
}
