import type { EvidenceAdoption, FactIdMarked } from '../../evidence/index.ts';

/** A supervised order that relies on an unverified HINWEIS in order to verify it, with a person on site. */
export const trialKinds = ['stop', 'move', 'pose', 'dock'] as const;
export type TrialKind = (typeof trialKinds)[number];

/** Confirmations of a person on site; `unattended` is accepted only for a simulated chassis. */
export type TrialConditions =
  | { readonly unattended: true }
  | {
      readonly unattended?: false | undefined;
      /** The robot may move, or assume another heading (pose trial). */
      readonly robotWillMove: boolean;
      /** No person and no object within 1.5 m of the robot and of its way. */
      readonly spaceFree: boolean;
      /** A hand on the emergency stop. */
      readonly emergencyStopInHand: boolean;
    };

export interface TrialRequest {
  readonly kind: TrialKind;
  /** Name of the person beside the robot: written to every record. */
  readonly who: string;
  readonly conditions: TrialConditions;
  /** `move` and `stop`: the course on the map, in degrees counter-clockwise, 0 along +x. Absent: chosen from the heading of the robot. */
  readonly towardsDeg?: number | undefined;
  /** `move`: 0.3 to 1 m. `stop`: 1 to 2 m. */
  readonly distanceM?: number | undefined;
}

/**
 * Observation compared with a fact. 'not-decided': it was not observed, or is ambiguous; it is neither green nor a
 * contradiction, and no record is written.
 */
export type TrialVerdict = 'holds' | 'differs' | 'not-decided';

type TrialFactId = FactIdMarked<'BELEGT' | 'HINWEIS'>;

export interface TrialFinding {
  readonly fact: TrialFactId;
  readonly verdict: TrialVerdict;
  /** One sentence with the numbers. */
  readonly why: string;
  /** The recorded value; null where nothing is decided. */
  readonly value: string | boolean | null;
}

/**
 * - verified: every fact on trial holds.
 * - contradicted: at least one differs.
 * - not-decided: none differs, and not all of them hold.
 * - refused: no order was sent.
 * - cancelled: it was aborted; it verifies nothing.
 */
export type TrialOutcome = 'verified' | 'contradicted' | 'not-decided' | 'refused' | 'cancelled';

/** A trial without its samples: the response of the routes. */
export interface TrialView {
  readonly id: string;
  readonly kind: TrialKind;
  readonly who: string;
  readonly state: 'running' | 'ended';
  /** What happens now, for the person beside the robot. */
  readonly phase: string;
  /** Set when the person must act at once: press the emergency stop. */
  readonly alarm: string | null;
  readonly startedAgoMs: number;
  /** Identity that the chassis reported. */
  readonly serial: string | null;
  readonly software: string | null;
  readonly simulated: boolean;
  /** Null while it runs. */
  readonly outcome: TrialOutcome | null;
  /** Reason for the outcome; null while it runs. */
  readonly reason: string | null;
  readonly facts: readonly TrialFinding[];
  /** Why no order was sent; empty unless the outcome is 'refused'. */
  readonly refusals: readonly string[];
  /** Additional notes. */
  readonly notes: readonly string[];
  /** The file with samples and verdicts, beside the evidence file; null while it runs and where it could not be written. */
  readonly report: { readonly file: string; readonly sha256: string } | null;
  /** Facts about which a record was written. */
  readonly recorded: readonly string[];
}

/** The trial interface of the motion service. */
export interface Trials {
  /**
   * Starts a trial and returns at once; it continues in the background. Throws USAGE for an invalid request, and the
   * refusals of the gate: MOTION_REFUSED, MOTION_STOPPED, TOUR_RUNNING, CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
   * CHASSIS_WRONG_DEVICE. A refusal by the gate is reported in a file too.
   */
  start(request: TrialRequest): Promise<TrialView>;
  /** Keepalive of the client: without one for 3 s the trial is cancelled. Null when there is no trial of this id. */
  keepAlive(id: string): TrialView | null;
  /** Cancels the running trial of any client; resolves when the order was cancelled. Null when there was never one. */
  cancel(why: string): Promise<TrialView | null>;
  /** The running or the last trial since the start of the daemon. */
  view(): TrialView | null;
  /**
   * Reads the evidence file again and adopts all of it, as after a restart: only for a signed-in person on site; the
   * caller verifies that. Throws EVIDENCE_FILE_INVALID.
   */
  adoptEvidence(): Promise<EvidenceAdoption>;
}
