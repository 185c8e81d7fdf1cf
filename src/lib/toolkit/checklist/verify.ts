import type { Protocol } from '../../checklist/index.ts';
import { signatureState, verdictOf } from '../../report/index.ts';
import { type ProtocolTrust, verifyProtocolAt } from './record-file.ts';
import type { ProtocolSubject, ProtocolVerify } from './verify.result.ts';

/**
 * Whether a protocol file is what a device signed. What is wrong is the result, not an error. Throws what
 * `verifyProtocolAt` throws.
 */
export async function checkProtocol(path: string, trust: ProtocolTrust): Promise<ProtocolVerify> {
  const verification = await verifyProtocolAt(path, trust);
  const { protocol, findings } = verification;
  return {
    path,
    state: protocol === null ? 'wrong' : signatureState(protocol, verification),
    signedBy: protocol?.signature?.serial ?? null,
    findings: findings.map(({ id, title, verdict, detail }) => ({ id, title, verdict, detail })),
    subject: protocol === null ? null : subjectOf(protocol),
  };
}

/** What a protocol says of itself, in short. */
export function subjectOf(protocol: Protocol): ProtocolSubject {
  const { checklist, technician, robots, counts } = protocol;
  const redLines = robots.reduce((sum, robot) => sum + robot.redLines.length, 0);
  return {
    id: protocol.id,
    edition: protocol.edition,
    checklist: checklist.name,
    title: checklist.title,
    phase: checklist.phase,
    technician: technician.name ?? technician.initials,
    startedAt: protocol.startedAt,
    endedAt: protocol.endedAt,
    robots: robots.map(({ site, serial, software }) => ({ site, serial, software: software?.value ?? null })),
    verdict: verdictOf({ ...protocol, steps: robots.flatMap(({ steps }) => steps), redLines }),
    counts: { ...counts },
    deviations: protocol.deviations,
    redLines,
  };
}
