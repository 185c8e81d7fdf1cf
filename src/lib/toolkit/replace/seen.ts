import { GwError } from '../../error/index.ts';
import type { DeviceEvidence, EvidenceRecord } from '../../evidence/index.ts';
import type { PageState } from '../../pages/index.ts';
import type { Site } from '../../site/index.ts';
import type { ChassisAddress } from '../chassis/chassis.result.ts';
import type { KeptRecords } from '../checklist/kept-records.ts';
import type { EnrolStatus } from '../enrol/enrol.result.ts';
import type { StepLine } from './replace.result.ts';
import { line } from './step.ts';

/** What was read just now, or why it could not be. */
export type Seen<T> = T | GwError;

export const isUnseen = (value: unknown): value is GwError => value instanceof GwError;

/** The part of a robot that every replacement looks at. */
export interface RobotSeen {
  readonly begunAt: string;
  /** Ids of the runs whose records were there at the beginning. */
  readonly known: readonly string[];
  readonly site: Site;
  readonly chassis: Seen<ChassisAddress>;
  readonly gateway: GatewaySeen;
  /** null: no section `enrolment` in the site file. */
  readonly identity: Seen<EnrolStatus | null>;
  readonly device: Seen<Device>;
  /** Of the robot of the site file. */
  readonly records: Seen<KeptRecords>;
}

/** The chassis that answers, with the records that count for it. */
export interface Device extends DeviceEvidence {
  readonly serial: string;
  readonly software: string;
  readonly simulated: boolean;
  /** Every record of the evidence file, also of other robots. */
  readonly lines: readonly EvidenceRecord[];
}

export interface GatewaySeen {
  /** What answers at each place that a gateway of this machine uses; null: it does not name its robot. */
  readonly robots: readonly { readonly place: string; readonly serial: string | null }[];
  /** Places that a program holds without an answer. */
  readonly silent: readonly string[];
  /** Why the places could not be looked at; null: they were. */
  readonly problem: string | null;
  /** Unit `gw` of systemd. */
  readonly unit: 'active' | 'inactive' | 'none' | 'not-known';
  /** Its live state; an error where none answers for the robot of the site file. */
  readonly live: Seen<PageState>;
  /** Why the state folder may not be that of the robot of the site file alone. */
  readonly claim: Seen<string | null>;
  /** Robots whose state was set aside. */
  readonly others: readonly string[];
}

/** What could not be looked at, and why. */
export function unseen(id: string, title: string, { message, remedy }: GwError): StepLine {
  return line(id, title, 'not-checked', message.replace(/\s*\n\s*/g, '; '), remedy);
}
