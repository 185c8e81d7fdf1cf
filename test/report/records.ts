import type { CheckRecord, RecordVerification, RobotRecord, StepResult } from '../../src/lib/checklist/index.ts';

/** A step that is ok, with what is changed about it. */
export function stepOf(change: Partial<StepResult> = {}): StepResult {
  return {
    ...{ id: 'address', title: 'The chassis answers where the site file says', proves: 'Addressing rules, rule 6' },
    ...{ kind: 'run', run: 'chassis address', moves: false, section: null, precondition: false, verdict: 'ok' },
    ...{ leftOut: false, why: 'every expectation holds', shown: '192.0.2.3:8090, answered in 12 ms', remedy: null },
    ...{ at: '2026-11-21T09:05:00.000Z', tookMs: 120, expectations: [], error: null, answer: null, values: [] },
    ...{ measured: null, deviation: null, earlier: [], ...change },
  };
}

export const wrongStep = stepOf({
  ...{ id: 'pose-unit', title: 'The pose is reported in degrees', proves: 'Angles (critical rule)' },
  ...{ verdict: 'wrong', why: 'poseUnit.verdict: expected degrees, found not decided', shown: null },
  remedy: 'Turn the robot by hand through a full turn, then take the step again.',
  expectations: [{ path: 'poseUnit.verdict', expected: 'degrees', found: 'not decided', verdict: 'wrong' }],
});

export const deviantStep = stepOf({
  ...{ id: 'port-8883', title: 'MQTT on 8883', proves: 'Cloud and other network paths', verdict: 'wrong', shown: null },
  why: 'not reachable: mqtt.example.com:8883 does not answer',
  remedy: 'Ask the IT of the customer to let 8883 pass, or accept 443 alone.',
  error: {
    ...{ code: 'PEER_NOT_REACHABLE', message: 'mqtt.example.com:8883 does not answer' },
    ...{ tried: 'mqtt.example.com:8883, 3.0 s', remedy: 'Ask.' },
  },
  deviation: { reason: '443 is enough here', approvedBy: 'K. Muster', at: '2026-11-21T10:00:00.000Z' },
});

export const answeredStep = stepOf({
  ...{ id: 'sensors', title: 'The windows of the sensors are clean', proves: 'Device' },
  ...{ kind: 'confirm', run: null, shown: null, why: 'answered yes' },
  answer: {
    ...{ answer: 'yes', by: 'Ada Techniker', initials: 'AT', remark: 'wiped once more', value: null },
    ...{ attachments: ['001-sensors.jpg'], at: '2026-11-21T09:10:00.000Z' },
  },
});

export const measuredStep = stepOf({
  ...{ id: 'ramp', title: 'The ramp at the lift', proves: 'Map and overlays' },
  ...{ kind: 'measure', run: null, shown: 'height 12 mm' },
  values: [{ name: 'height', value: 12, unit: 'mm', mark: 'BELEGT', source: 'Ada Techniker, ruler' }],
  earlier: [{ at: '2026-11-21T09:00:00.000Z', verdict: 'not-checked', why: 'not answered' }],
});

export const openStep = stepOf({
  ...{ id: 'drive', title: 'The first drive', proves: 'Chassis interface', moves: true },
  ...{ verdict: 'not-checked', why: 'the robot may not move', shown: null },
  remedy: 'Run again with --robot-will-move.',
});

export function robotOf(steps: readonly StepResult[], change: Partial<RobotRecord> = {}): RobotRecord {
  const count = (verdict: StepResult['verdict']) => steps.filter((step) => step.verdict === verdict).length;
  const redLines = change.redLines ?? [];
  return {
    site: 'Lobby, robot 7',
    serial: 'SN0007',
    software: { value: '2.9.3', mark: 'BELEGT', source: 'GET /device/info' },
    ok: steps.every(({ verdict }) => verdict === 'ok') && redLines.length === 0,
    accepted: steps.every(({ verdict, deviation }) => verdict === 'ok' || deviation !== null) && redLines.length === 0,
    counts: { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped'), notChecked: count('not-checked') },
    deviations: steps.filter(({ deviation }) => deviation !== null).length,
    sections: [],
    steps: [...steps],
    evidence: [
      {
        ...{ id: 'angles.tracked-pose-ori', mark: 'BELEGT', statement: 'ori of /tracked_pose is in degrees' },
        ...{ source: 'specification', verifiedHere: 'yes' },
      },
    ],
    redLines,
    ...change,
  };
}

export function recordOf(robots: readonly RobotRecord[], change: Partial<CheckRecord> = {}): CheckRecord {
  const sum = (of: (robot: RobotRecord) => number) => robots.reduce((total, robot) => total + of(robot), 0);
  return {
    ...{ format: 'gw/check-record/1', id: '3f0f8a9e-3f2b-4b74-9a51-6d4c5b8f0e11', edition: 1, gw: '0.1.0' },
    checklist: {
      ...{ name: 'site', title: 'Commissioning at the site', phase: 'site' },
      purpose: 'Proves that the robot stands in the network of the customer as it must.',
      ...{ file: 'site.yaml', sha256: 'ab'.repeat(32) },
    },
    technician: { name: 'Ada Techniker', initials: 'AT' },
    ...{ startedAt: '2026-11-21T09:00:00.000Z', endedAt: '2026-11-21T10:30:00.000Z', resumedAt: [], tookMs: 3_600_000 },
    ...{ motionAllowed: false, interrupted: false, leftOut: false },
    ok: robots.every(({ ok }) => ok),
    accepted: robots.every(({ accepted }) => accepted),
    counts: {
      ok: sum(({ counts }) => counts.ok),
      wrong: sum(({ counts }) => counts.wrong),
      skipped: sum(({ counts }) => counts.skipped),
      notChecked: sum(({ counts }) => counts.notChecked),
    },
    deviations: sum(({ deviations }) => deviations),
    robots: [...robots],
    attachments: [{ name: '001-sensors.jpg', sha256: 'cd'.repeat(32), bytes: 48_213, mediaType: 'image/jpeg' }],
    signature: {
      algorithm: 'ECDSA-P256-SHA256-P1363',
      serial: robots[0]?.serial ?? '',
      certificate: '-----BEGIN CERTIFICATE-----\nAQIDBA==\n-----END CERTIFICATE-----\n',
      value: `${'A'.repeat(86)}==`,
    },
    ...change,
  };
}

export function verificationOf(
  record: CheckRecord | null,
  verdict: RecordVerification['verdict'] = 'ok',
): RecordVerification {
  return {
    verified: verdict === 'ok',
    verdict,
    findings: [
      {
        ...{ id: 'content', title: 'nothing was changed since it was written' },
        ...{ verdict: 'ok', detail: 'it is as gw writes it' },
      },
      {
        ...{ id: 'chain', title: 'the certificate was issued by the operator', verdict },
        detail: verdict === 'ok' ? 'issued by Example CA' : 'no CA is here to compare it with',
      },
    ],
    record,
  };
}
