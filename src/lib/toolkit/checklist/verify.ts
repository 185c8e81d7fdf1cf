import type { CheckRecord } from '../../checklist/index.ts';
import { signatureState, verdictOf } from '../../report/index.ts';
import type { RecordSubject, RecordVerify } from './checklist.result.ts';
import { type RecordTrust, verifyRecordAt } from './record-file.ts';

/**
 * Verifies a record file. A failed verification is a result, not an error. Throws what `verifyRecordAt` throws.
 */
export async function checkRecord(path: string, trust: RecordTrust): Promise<RecordVerify> {
  const verification = await verifyRecordAt(path, trust);
  const { record, findings } = verification;
  return {
    path,
    state: record === null ? 'wrong' : signatureState(record, verification),
    signedBy: record?.signature?.serial ?? null,
    findings: findings.map(({ id, title, verdict, detail }) => ({ id, title, verdict, detail })),
    subject: record === null ? null : subjectOf(record),
  };
}

/** Summary of a record. */
export function subjectOf(record: CheckRecord): RecordSubject {
  const { checklist, technician, robots, counts } = record;
  const redLines = robots.reduce((sum, robot) => sum + robot.redLines.length, 0);
  return {
    id: record.id,
    edition: record.edition,
    checklist: checklist.name,
    title: checklist.title,
    phase: checklist.phase,
    technician: technician.name ?? technician.initials,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    robots: robots.map(({ site, serial, software }) => ({ site, serial, software: software?.value ?? null })),
    verdict: verdictOf({ ...record, steps: robots.flatMap(({ steps }) => steps), redLines }),
    simulated: robots.some((robot) => robot.simulated === true),
    counts: { ...counts },
    deviations: record.deviations,
    redLines,
  };
}
