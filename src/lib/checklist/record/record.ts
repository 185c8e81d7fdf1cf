import { basename } from 'node:path';
import { type EvidenceRecord, type FactId, factById, type Reliance, relianceOn } from '../../evidence/index.ts';
import { mapTexts } from '../../text/index.ts';
import type { Checklist } from '../file/step.ts';
import type { JournalState } from '../journal/journal-lines.ts';
import {
  type CheckRecord,
  type Party,
  RECORD_FORMAT,
  type RedLine,
  type ReliedFact,
  type RobotRecord,
} from '../record.result.ts';
import { countVerdicts } from '../run/runner.ts';
import type { SessionRobotResult } from '../run/session.ts';
import type { Counts, StepResult } from '../run.result.ts';
import { canonicalText } from './canonical.ts';

export interface RecordRobot extends SessionRobotResult {
  readonly site: string;
  readonly serial: string;
  readonly customer?: Party;
  readonly operator?: Party;
  /** Of the evidence file of the site; null when it cannot be read. */
  readonly evidenceRecords: readonly EvidenceRecord[] | null;
  readonly redLines: readonly RedLine[];
}

export interface RecordParts {
  /** Read again at the end of the run. */
  readonly journal: JournalState;
  readonly edition: number;
  readonly gwVersion: string;
  readonly checklist: Checklist;
  readonly technician: CheckRecord['technician'];
  readonly endedAt: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly robots: readonly [RecordRobot, ...RecordRobot[]];
}

/** Composes an unsigned record. */
export function composeRecord(parts: RecordParts): CheckRecord {
  const { journal, checklist } = parts;
  const robots = parts.robots.map((robot) => robotRecord(robot, checklist));
  const results = parts.robots.map(({ result }) => result);
  const { name, title, titleDe, purpose, phase, file, sha256 } = checklist;
  const record: CheckRecord = {
    format: RECORD_FORMAT,
    id: journal.begun.id,
    edition: parts.edition,
    gw: parts.gwVersion,
    checklist: { name, title, ...german(titleDe), purpose, phase, file: basename(file), sha256 },
    technician: parts.technician,
    startedAt: journal.begun.at,
    endedAt: parts.endedAt,
    timeZone: parts.timeZone,
    resumedAt: [...journal.resumedAt],
    tookMs: journal.tookMs,
    motionAllowed: results.some((result) => result.motionAllowed),
    interrupted: results.some((result) => result.interrupted),
    attachments: [...journal.attachments],
    signature: null,
    robots,
    ...summaryOf(robots),
  };
  // Canonical text cannot hold a lone surrogate.
  return mapTexts(record, (text) => text.toWellFormed());
}

/** Summary fields of a record, computed from its robots. */
export function summaryOf(
  robots: readonly RobotRecord[],
): Pick<CheckRecord, 'ok' | 'accepted' | 'leftOut' | 'counts' | 'deviations'> {
  const steps = robots.flatMap((robot) => robot.steps);
  return {
    ok: robots.every(({ ok }) => ok),
    accepted: robots.every(({ accepted }) => accepted),
    leftOut: steps.some((step) => step.leftOut),
    counts: countVerdicts(steps),
    deviations: steps.filter(isDeviation).length,
  };
}

/** Summary fields of one robot. */
export function robotSummaryOf(
  steps: readonly StepResult[],
  redLines: readonly RedLine[],
): Pick<RobotRecord, 'ok' | 'accepted' | 'counts' | 'deviations'> {
  const counts = countVerdicts(steps);
  return {
    ok: isAllOk(counts, steps) && redLines.length === 0,
    accepted:
      steps.length > 0 && steps.every((step) => step.verdict === 'ok' || isDeviation(step)) && redLines.length === 0,
    counts,
    deviations: steps.filter(isDeviation).length,
  };
}

export function sectionSummaryOf(id: string, all: readonly StepResult[]): { ok: boolean; counts: Counts } {
  const steps = all.filter((step) => step.section === id);
  const counts = countVerdicts(steps);
  return { ok: isAllOk(counts, steps), counts };
}

function isAllOk(counts: Counts, steps: readonly StepResult[]): boolean {
  return steps.length > 0 && counts.ok === steps.length;
}

function isDeviation(step: StepResult): boolean {
  return step.verdict !== 'ok' && step.deviation !== null;
}

function robotRecord(robot: RecordRobot, checklist: Checklist): RobotRecord {
  const { site, serial, customer, operator, software, simulated, redLines } = robot;
  const { steps } = robot.result;
  return {
    site,
    serial,
    ...(customer && { customer }),
    ...(operator && { operator }),
    software,
    simulated,
    ...robotSummaryOf(steps, redLines),
    sections: checklist.sections.map(({ id, title, titleDe, about }) => {
      return { id, title, ...german(titleDe), about, ...sectionSummaryOf(id, steps) };
    }),
    steps,
    evidence: reliedFacts(robot, checklist),
    redLines: [...redLines],
  };
}

function german(titleDe: string | undefined): { titleDe?: string } {
  return titleDe === undefined ? {} : { titleDe };
}

/** Facts that completed steps relied on, each once, in checklist order. */
function reliedFacts({ result, serial, software, evidenceRecords }: RecordRobot, checklist: Checklist): ReliedFact[] {
  const completed = new Set(
    result.steps.filter(({ at, verdict }) => at !== null && verdict !== 'skipped').map(({ id }) => id),
  );
  const ids = new Set(checklist.steps.filter(({ id }) => completed.has(id)).flatMap(({ facts }) => facts));
  return [...ids].map((id) => {
    const { mark, basis, statement, source } = factById(id);
    const known = evidenceRecords !== null && software !== null;
    // Evidence records state whether a simulator made them; whether this device is one is unknown here.
    const device = { serial, software: software?.value ?? null, simulated: true, records: evidenceRecords ?? [] };
    const verifiedHere = known ? verificationOf(relianceOn(id as FactId, device)) : 'not-checked';
    return { id, mark, basis, statement, source, verifiedHere };
  });
}

function verificationOf({ verifiedHere, contradictedHere, support }: Reliance): ReliedFact['verifiedHere'] {
  if (contradictedHere) return 'contradicted';
  if (!verifiedHere) return 'no';
  return support === 'simulator' ? 'on-a-simulator' : 'yes';
}

/** Canonical text of the file. */
export function recordText(record: object): string {
  return `${canonicalText(record, 2)}\n`;
}
