import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';

const factHere = { fact: z.string(), serial: z.string(), software: z.string() };

/** A folder of gw and the free space on its file system; 'unusable': nothing can be written there. */
const folder = z.strictObject({
  path: z.string(),
  status: z.enum(['ok', 'low', 'unusable', 'not-checked']).describe('low: less than disk.reserveMb is free.'),
  freeBytes: z.number().nullable(),
  totalBytes: z.number().nullable(),
  detail: z.string(),
  remedy: z.string().nullable(),
});

/** The renewal of the device certificate by the gateway itself. */
const renewal = z.strictObject({
  status: z
    .enum(['off', 'not-enrolled', 'not-due', 'due', 'not-proved', 'failing', 'over', 'not-checked'])
    .describe(
      'off: enrolment.renewal is not set. not-proved: a new certificate is kept, and the broker has not proved it yet. failing: the last attempt failed. over: the certificate has expired, and only a one-time code helps. These three: degraded.',
    ),
  beforeDays: z.int().nullable().describe('enrolment.renewal.beforeDays.'),
  candidate: z
    .strictObject({
      fingerprintSha256: z.string(),
      notAfter: z.string(),
      keptAt: z.string().describe('UTC: since when it is kept beside the certificate in use.'),
      failedProofs: z.int(),
    })
    .nullable()
    .describe('The new certificate that is not proved yet.'),
  failed: z.int().describe('Failed attempts since the last renewal.'),
  last: z
    .strictObject({ at: z.string(), detail: z.string() })
    .nullable()
    .describe('The last failed attempt; null: none since the last renewal.'),
  nextAt: z.string().nullable().describe('UTC: no new request before; null: at once when it is due.'),
  detail: z.string(),
  remedy: z.string().nullable(),
});
export type RenewalHealth = DeepReadonly<z.infer<typeof renewal>>;

/** Health of the whole daemon, as `GET /api/health` reports it. */
export const gatewayHealthSchema = z.strictObject({
  /**
   * 'degraded': at least one service is not running, evidence was withdrawn or cannot be read, a stop could not be
   * saved, a folder has too little free space, two devices send with one serial number, the cloud of an enrolled device
   * is not connected for a minute, its device certificate ends within 30 days or its renewal failed, its clock is more than a
   * minute off, or the sessions of remote support cannot be recorded.
   */
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  upForMs: z.number(),
  services: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(['waiting', 'starting', 'running', 'restarting', 'stopping', 'stopped']),
      restarts: z.int(),
      lastError: z.string().nullable(),
      remedy: z.string().nullable().describe('What to do; null while it runs.'),
      detail: z.string(),
    }),
  ),
  evidence: z
    .strictObject({
      status: z.enum(['as-read', 'revoked', 'unreadable']),
      detail: z.string(),
      revoked: z
        .array(z.strictObject({ ...factHere, how: z.enum(['contradicted', 'gone']) }))
        .describe('Withdrawn since the start of the gateway; no order relies on these until it is restarted.'),
      waiting: z.array(z.strictObject(factHere)).describe('New evidence, which takes effect after a restart.'),
    })
    .describe('The evidence file compared with its state at the start of the gateway.'),
  disk: z.strictObject({
    state: folder.describe('stateDir, where the stop latch is.'),
    media: folder.describe('operator.mediaDir.'),
  }),
  cloud: z
    .strictObject({
      status: z.enum(['connected', 'not-connected', 'not-enrolled', 'not-configured', 'not-checked']),
      detail: z.string(),
    })
    .describe('Cloud link. Configured, enrolled and not connected for a minute: degraded.'),
  support: z
    .strictObject({
      status: z.enum(['not-configured', 'waiting', 'running', 'not-checked']),
      records: z.enum(['ok', 'failing', 'not-checked']).describe('failing: no session can start, degraded.'),
      detail: z.string(),
    })
    .describe('Remote support.'),
  fleet: z
    .strictObject({ status: z.enum(['ok', 'conflict', 'not-checked']), detail: z.string() })
    .optional()
    .describe(
      'Heartbeats of the other robots. conflict: two devices send with one serial number, degraded. Absent: a gateway that does not report it.',
    ),
  certificate: z
    .strictObject({
      status: z
        .enum([
          'ok',
          'ending',
          'ending-now',
          'expired',
          'not-yet-valid',
          'not-enrolled',
          'not-configured',
          'not-checked',
        ])
        .describe(
          'By the clock of the gateway. ending: 30 days before the end or less; ending-now: one day. These, expired and not-yet-valid: degraded.',
        ),
      withinDays: z.int().nullable().describe('The last of 30, 14, 7 and 1 days before the end that has passed.'),
      daysLeft: z.int().nullable().describe('Whole days; negative after the end.'),
      notAfter: z.string().nullable().describe('UTC: the first end of the device certificate and the CAs above it.'),
      detail: z.string(),
      remedy: z.string().nullable(),
      renewal: renewal.optional().describe('Its renewal without a visit. Absent: a gateway that does not report it.'),
    })
    .optional()
    .describe('The device certificate of the cloud. Absent: a gateway that does not report it.'),
  clock: z
    .strictObject({
      status: z
        .enum(['ok', 'wrong', 'not-decided', 'not-checked', 'not-configured'])
        .describe(
          'Of the wall clock, by at least two endpoints that agree. ok: within a minute with all of the uncertainty. wrong: more than a minute off, degraded. not-decided: they disagree, only one gave a time, or no certificate could be verified by this clock. It decides about no movement.',
        ),
      behindMs: z
        .number()
        .nullable()
        .describe('Positive: the clock of the gateway is behind. null: no comparison that still counts.'),
      uncertainMs: z.number().nullable().describe('Either way; it grows with the age.'),
      ageMs: z.number().nullable().describe('Since the comparison, by the monotonic clock.'),
      from: z.array(z.string()).readonly().describe('Hosts that agreed.'),
      jumps: z
        .int()
        .describe(
          'How often the wall clock moved by more than a second against the monotonic one since the start: it was set, or the machine slept.',
        ),
      lastJump: z.strictObject({ at: z.string(), byMs: z.number().describe('Positive: forwards.') }).nullable(),
      detail: z.string(),
      remedy: z.string().nullable(),
    })
    .optional()
    .describe('The wall clock of the gateway. Absent: a gateway that does not report it.'),
  devices: z
    .array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(['door', 'lift', 'level-change', 'other', 'building', 'voice']),
        host: z.string(),
        port: z.int(),
        isHere: z.boolean().describe('On the gateway itself.'),
        status: z
          .enum(['accepts', 'not-reached', 'not-checked'])
          .describe(
            'accepts: a TCP connection, no more. not-checked: not looked at yet, too long ago, or in another network.',
          ),
        ageMs: z.number().nullable().describe('Since the look, by the monotonic clock.'),
        detail: z.string(),
      }),
    )
    .optional()
    .describe(
      'The last look at doors, lifts, building module and voice service of the site file. Not part of status. Absent: a gateway that does not report it.',
    ),
  log: z
    .strictObject({
      status: z
        .enum(['writing', 'unread', 'failing', 'discarded', 'not-checked'])
        .describe(
          'unread: its reader is not reading. failing: writes fail, for example on a full disk. discarded: it goes to /dev/null.',
        ),
      droppedLines: z.int().nullable().describe('Log lines lost since the start; null: unknown.'),
      detail: z.string(),
    })
    .describe('State of the log output. Not part of status.'),
});
type Reported = DeepReadonly<z.infer<typeof gatewayHealthSchema>>;
/** As this gateway reports it. */
export type GatewayHealth = Reported & { readonly fleet: NonNullable<Reported['fleet']> };
export type DeviceHealth = NonNullable<Reported['devices']>[number];
export type ClockHealth = NonNullable<Reported['clock']>;
export type CertificateHealth = NonNullable<Reported['certificate']>;
/** Whether the end of the certificate is no reason to act. */
export const isEndSound = (certificate: CertificateHealth | undefined): boolean =>
  certificate === undefined || !['ending', 'ending-now', 'expired', 'not-yet-valid'].includes(certificate.status);
/** Whether its renewal is none. */
export const isRenewalSound = ({ renewal: found }: Pick<CertificateHealth, 'renewal'> = {}): boolean =>
  found === undefined || !['not-proved', 'failing', 'over'].includes(found.status);
export const isCertificateSound = (certificate: CertificateHealth | undefined): boolean =>
  isEndSound(certificate) && isRenewalSound(certificate);
export type FolderHealth = GatewayHealth['disk']['state'];
