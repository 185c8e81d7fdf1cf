import type { z } from 'zod';
import type { EvidenceAdoption, FactIdMarked } from '../../evidence/index.ts';
import type { DeepReadonly } from '../../json/index.ts';
import type { TrialKind } from '../verify-remedy.ts';
import type { trialViewSchema } from './view.ts';

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

type TrialFactId = FactIdMarked<'BELEGT' | 'HINWEIS'>;

/** A trial without its samples: the response of the routes. */
type Reported = DeepReadonly<z.infer<typeof trialViewSchema>>;
export interface TrialView extends Reported {
  readonly facts: readonly TrialFinding[];
}
export interface TrialFinding extends DeepReadonly<z.infer<typeof trialViewSchema.shape.facts.element>> {
  readonly fact: TrialFactId;
}
export type TrialVerdict = TrialFinding['verdict'];
export type TrialOutcome = NonNullable<TrialView['outcome']>;

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
