import type { CloudView } from '../../src/lib/cloud/index.ts';
import type { FailedAttempt, LinkTrouble } from '../../src/lib/cloud/link/model.ts';

/** A failed attempt on the direct path, as a firewall causes it. */
const blocked: FailedAttempt = {
  ...{ path: 'direct', host: 'mqtt.example.test', port: 8883, step: 'tcp', at: '2026-11-22T08:19:36.000Z' },
  tookMs: 10_000,
  outcome: {
    verdict: 'wrong',
    detail: 'no answer from mqtt.example.test:8883',
    remedy: 'Check the firewall of the site.',
    ask: 'Allow outgoing TCP to mqtt.example.test port 8883.',
  },
};

const hostTrouble: LinkTrouble = {
  kind: 'host-difference',
  detail: 'the site file has the broker mqtt.example.test, the enrolment gave other.example.test',
  remedy: 'Correct cloud.mqtt.host.',
  ask: null,
};

const counts = {
  ...{ retained: 2, oversized: 0, misaddressed: 0, 'not-json': 1, 'too-deep': 0, 'wrong-type': 0, 'unknown-field': 0 },
  ...{ duplicate: 0, 'not-asked-for': 0, late: 0, 'empty-queue': 0 },
};

/** A gateway connected over port 443, to another broker than that of the enrolment, with a blocked port 8883, kept messages, discarded ones and uploads. */
export const connectedView: CloudView = {
  ...{ status: 'connected', detail: 'Connected to mqtt.example.test:443.', remedy: null },
  link: {
    ...{ status: 'connected', detail: 'Connected to mqtt.example.test:443 with ALPN.', remedy: null },
    ask: 'Allow outgoing TCP to mqtt.example.test port 8883.',
    connection: {
      ...{ path: 'fallback', host: 'mqtt.example.test', port: 443, alpn: 'x-example-mqtt-ca', tls: 'TLSv1.3' },
      ...{ sessionPresent: true, filters: ['gw/SN0001/stop'], withQos0: [], since: '2026-11-22T08:20:00.000Z' },
      ...{ forMs: 11 * 3_600_000, lastPacketAgoMs: 4_000 },
      certificate: { fingerprintSha256: 'ab'.repeat(32), notAfter: '2027-11-22T00:00:00.000Z' },
    },
    failures: { direct: blocked, fallback: null },
    ...{ connects: 3, losses: 2, retryInMs: null, directRetryInMs: 200_000 },
    hostDifference: { site: 'mqtt.example.test', enrolment: 'other.example.test' },
    ...{ regionDifference: null, identity: 'enrolled', renewalFailure: null, troubles: [hostTrouble] },
    installed: { fingerprintSha256: 'ab'.repeat(32), notAfter: '2027-11-22T00:00:00.000Z' },
  },
  outbox: {
    ...{ status: 'open', detail: '7 messages are kept.', remedy: null, bytes: 1_500_000, maxBytes: 256_000_000 },
    kept: { record: 1, fault: 2, shadow: 0, telemetry: 4 },
    ...{ oldestAt: '2026-11-22T09:00:00.000Z', accepted: 107, acknowledged: 100, refused: 1, thinned: 12 },
  },
  received: {
    ...{
      releases: 1,
      stops: 2,
      stopsOfKnownContent: 0,
      unsavedStops: 0,
      tunnelNotifications: 0,
      answers: 9,
      discarded: counts,
    },
    lastDiscarded: [
      { reason: 'retained', topic: 'gw/TEST-0001/stop', bytes: 44, at: '2026-11-22T10:00:00.000Z' },
      { reason: 'not-json', topic: 'gw/TEST-0001/stop', bytes: 3, at: '2026-11-22T09:59:00.000Z' },
    ],
  },
  seen: { status: 'saved', detail: 'The last 256 stops are recognised after a restart too.', remedy: null },
  reporting: {
    telemetry: { intervalS: 10, accepted: 96, skipped: 2, trouble: null },
    faults: {
      raised: [
        {
          ...{ key: 'alert.1024', text: 'Alert 1024 (error): x', number: 1024, mark: 'HINWEIS', faultId: 'f-1' },
          ...{ state: 'present', occurrences: 3 },
        },
        {
          ...{ key: 'disk.state.low', text: '/var/lib/gw: 12 MB', number: null, mark: 'BELEGT', faultId: 'f-2' },
          ...{ state: 'not-checked', occurrences: 1 },
        },
      ],
      ...{ unreported: 0, trouble: null },
    },
    shadow: { status: 'accepted', detail: 'Version 7 is accepted.', version: 7, rejected: null },
  },
  release: {
    ...{ status: 'ready', detail: 'Version 1.3.0 is confirmed.', remedy: null, runningVersion: '1.3.0' },
    ...{ installed: ['1.2.0', '1.3.0'], previous: '1.2.0' },
    run: {
      ...{ jobId: 'release-7', executionNumber: 1, phase: 'rolled-back', fromVersion: '1.3.0', toVersion: '1.4.0' },
      ...{ stage: 2, documentParameters: null, since: '2026-11-22T09:30:00.000Z', starts: 1 },
      ...{ detail: 'the cloud link was not connected within 180 s', isReported: true, hasJobEnded: false },
    },
  },
  uploads: [
    {
      ...{ name: 'maps/old.tar.gz', bytes: 10, sha256: 'cd'.repeat(32), state: 'uploaded', sentBytes: 10 },
      ...{ addedAt: '2026-11-22T07:00:00.000Z', detail: null },
    },
    {
      ...{ name: 'maps/new.tar.gz', bytes: 1_000, sha256: 'ef'.repeat(32), state: 'uploading', sentBytes: 250 },
      ...{ addedAt: '2026-11-22T08:00:00.000Z', detail: null },
    },
  ],
};

/** The same gateway after the link was lost, with both paths blocked. */
export const lostView: CloudView = {
  ...connectedView,
  status: 'not-connected',
  detail: 'not connected: no answer from mqtt.example.test:8883.',
  remedy: 'Check the firewall of the site.',
  link: connectedView.link && {
    ...connectedView.link,
    ...{ status: 'connecting', detail: 'no answer from mqtt.example.test:8883', connection: null },
    failures: { direct: blocked, fallback: { ...blocked, path: 'fallback', port: 443 } },
    ...{ retryInMs: 25_000, directRetryInMs: null, hostDifference: null, troubles: [] },
  },
};
