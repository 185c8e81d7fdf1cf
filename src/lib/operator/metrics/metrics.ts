import type { ChassisSnapshot, LiveValue } from '../../chassis/index.ts';
import type { CloudView } from '../../cloud/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { Scope } from '../connections/listener.ts';
import type { GatewayHealth } from '../health.ts';
import type { NeighboursView } from '../model.ts';
import type { Metric, Sample } from './exposition.ts';

/** What the metrics are read from, at the moment of the request. */
export interface MetricsSource {
  readonly health: GatewayHealth;
  readonly snapshot: ChassisSnapshot;
  readonly motion: MotionStatus;
  readonly cloud: CloudView;
  readonly support: SupportView;
  readonly neighbours: NeighboursView;
  /** Pages that follow the live events, by their socket. */
  readonly followers: readonly { readonly scope: Scope }[];
  readonly process: {
    readonly nodeVersion: string;
    readonly residentBytes: number;
    readonly cpuSeconds: number;
    /** Since the start, of the event loop that answers STOP. */
    readonly busySeconds: number;
  };
  /** The clock of the gateway: for the age of what is stamped with it. */
  readonly now: Date;
}

/**
 * The state of this gateway for a person who watches many, as metrics of Prometheus. Names and labels are project decisions;
 * labels have few values, never a serial number or a text. What is not known, or no longer current, is absent.
 */
export function metricsOf(source: MetricsSource): readonly Metric[] {
  return [
    ...gatewayMetrics(source),
    ...robotMetrics(source),
    ...cloudMetrics(source),
    ...certificateMetrics(source),
    ...clockMetrics(source),
    ...siteMetrics(source),
    ...processMetrics(source),
  ];
}

function gatewayMetrics({ health }: MetricsSource): Metric[] {
  const folders = Object.entries(health.disk);
  const bytesOf = (key: 'freeBytes' | 'totalBytes') => folders.flatMap(([folder, one]) => known(one[key], { folder }));
  return [
    gauge('gw_build_info', 'Version of gw; always 1.', [{ labels: { version: health.version }, value: 1 }]),
    gauge('gw_uptime_seconds', 'Since the start of the daemon, by its monotonic clock.', known(health.upForMs / 1_000)),
    gauge('gw_healthy', 'Whether GET /api/health says ok; 0: degraded.', flag(health.status === 'ok')),
    gauge(
      'gw_service_running',
      'Whether a part of the daemon runs.',
      health.services.flatMap(({ name, status }) => flag(status === 'running', { service: name })),
    ),
    counter(
      'gw_service_restarts_total',
      'Restarts of a part since the start of the daemon.',
      health.services.flatMap(({ name, restarts }) => known(restarts, { service: name })),
    ),
    gauge(
      'gw_evidence_as_read',
      'Whether the evidence file is as at the start; 0: withdrawn or unreadable.',
      flag(health.evidence.status === 'as-read'),
    ),
    gauge('gw_disk_free_bytes', 'Free space of the file system of a folder.', bytesOf('freeBytes')),
    gauge('gw_disk_size_bytes', 'Size of the file system of a folder.', bytesOf('totalBytes')),
    gauge(
      'gw_disk_writable',
      'Whether a folder can be written to; absent: not checked.',
      folders.flatMap(([folder, { status }]) =>
        status === 'not-checked' ? [] : flag(status !== 'unusable', { folder }),
      ),
    ),
    counter('gw_log_dropped_lines_total', 'Log lines lost since the start.', known(health.log.droppedLines)),
  ];
}

function robotMetrics({ snapshot, motion }: MetricsSource): Metric[] {
  const { link, values, roundTripMs, standing } = snapshot;
  const { pose, battery, alerts, positioning } = values;
  const moving = { stands: false, moves: true, 'not-known': null }[standing.verdict];
  return [
    gauge('gw_chassis_connected', 'Whether the chassis is connected.', flag(link.kind === 'connected')),
    gauge(
      'gw_chassis_pose_age_seconds',
      'Since the newest pose, also of a connection that is lost; absent: none received.',
      pose.status === 'received' ? known(pose.ageMs / 1_000) : [],
    ),
    gauge(
      'gw_chassis_round_trip_seconds',
      'Ping of the topic stream of the chassis.',
      roundTripMs === null ? [] : known(roundTripMs / 1_000),
    ),
    gauge(
      'gw_robot_battery_ratio',
      'Charge as the chassis reports it, 0 to 1; absent: not current.',
      current(battery).flatMap(({ percent }) => known(percent / 100)),
    ),
    gauge(
      'gw_robot_alerts',
      'Active alerts of the chassis; absent: not current.',
      current(alerts).flatMap(({ length }) => known(length)),
    ),
    gauge(
      'gw_robot_position_reliable',
      'Whether the chassis calls its position reliable; absent: not current.',
      current(positioning).flatMap(({ reliable }) => flag(reliable)),
    ),
    gauge(
      'gw_robot_moving',
      'Whether the robot moves, by its poses; absent: not known.',
      moving === null ? [] : flag(moving),
    ),
    gauge('gw_motion_gate_open', 'Whether an order to move would pass the gate.', flag(motion.gate.open)),
    gauge('gw_motion_stop_latched', 'Whether the stop is set.', flag(motion.stop.latched)),
    gauge(
      'gw_motion_stop_savable',
      'Whether a stop would be saved; 0: it would be lost with a restart.',
      flag(motion.keepingTrouble === null),
    ),
    gauge('gw_motion_pose_alarm', 'Whether the pose is known to be wrong.', flag((motion.poseAlarm ?? null) !== null)),
    gauge('gw_motion_tour_running', 'Whether a tour runs.', flag(motion.tour?.state === 'running')),
  ];
}

function certificateMetrics({ health: { certificate }, now }: MetricsSource): Metric[] {
  const notAfter = certificate?.notAfter ?? null;
  const renewal = certificate?.renewal;
  const isRenewalUsed = renewal !== undefined && renewal.status !== 'off' && renewal.status !== 'not-checked';
  return [
    gauge(
      'gw_certificate_end_seconds',
      'Until the first end of the device certificate and the CAs above it, by the clock of the gateway; negative: over.',
      known(notAfter === null ? null : (Date.parse(notAfter) - now.getTime()) / 1_000),
    ),
    gauge(
      'gw_certificate_renewal_failed_attempts',
      'Failed attempts to renew the device certificate without a visit, and to prove a new one, since the last renewal; absent: off, or not checked yet.',
      known(isRenewalUsed ? renewal.failed + (renewal.candidate?.failedProofs ?? 0) : null),
    ),
  ];
}

function clockMetrics({ health: { clock } }: MetricsSource): Metric[] {
  const seconds = (ms: number | null | undefined) => known(typeof ms === 'number' ? ms / 1_000 : null);
  const behindMs = clock?.behindMs ?? null;
  return [
    gauge(
      'gw_clock_offset_seconds',
      'Wall clock of the gateway minus the time that several endpoints agreed on; absent: no comparison that still counts.',
      // Not -0.
      seconds(behindMs === null ? null : 0 - behindMs),
    ),
    gauge('gw_clock_offset_uncertainty_seconds', 'Of that offset, either way.', seconds(clock?.uncertainMs)),
    gauge('gw_clock_comparison_age_seconds', 'Since that comparison, by the monotonic clock.', seconds(clock?.ageMs)),
    counter(
      'gw_clock_jumps_total',
      'How often the wall clock moved by more than a second against the monotonic one: it was set, or the machine slept.',
      known(clock?.jumps),
    ),
  ];
}

function cloudMetrics({ cloud, now }: MetricsSource): Metric[] {
  const { status, link, outbox, received, release } = cloud;
  const isUsed = status === 'connected' || status === 'not-connected';
  const oldestS = outbox?.oldestAt ? (now.getTime() - Date.parse(outbox.oldestAt)) / 1_000 : null;
  return [
    gauge(
      'gw_cloud_connected',
      'Whether the cloud link is connected; absent: none is set up, or not checked yet.',
      isUsed ? flag(status === 'connected') : [],
    ),
    counter('gw_cloud_connects_total', 'Connections of the cloud link since the start.', known(link?.connects)),
    counter('gw_cloud_stops_total', 'Stops received from the cloud since the start.', known(received?.stops)),
    counter(
      'gw_cloud_unsaved_stops_total',
      'Stops from the cloud that were executed and not saved in time.',
      known(received?.unsavedStops),
    ),
    counter(
      'gw_cloud_discarded_messages_total',
      'Messages of the cloud that were discarded, by reason.',
      Object.entries(received?.discarded ?? {}).flatMap(([reason, count]) => known(count, { reason })),
    ),
    gauge(
      'gw_outbox_messages',
      'Messages that wait for the cloud, by class; absent: the outbox is not open.',
      Object.entries(outbox?.kept ?? {}).flatMap(([kind, count]) => known(count, { class: kind })),
    ),
    gauge('gw_outbox_size_bytes', 'Size of the outbox on the disk.', known(outbox?.bytes)),
    gauge('gw_outbox_limit_bytes', 'Size at which telemetry is thinned.', known(outbox?.maxBytes)),
    gauge(
      'gw_outbox_oldest_message_age_seconds',
      'Age of the oldest kept message by the clock of the gateway; absent: none, or the clock was set back.',
      oldestS !== null && oldestS >= 0 ? known(oldestS) : [],
    ),
    counter('gw_outbox_accepted_total', 'Messages accepted since the start.', known(outbox?.accepted)),
    counter('gw_outbox_acknowledged_total', 'Messages acknowledged by the cloud.', known(outbox?.acknowledged)),
    counter('gw_outbox_refused_total', 'Messages that could not be kept.', known(outbox?.refused)),
    gauge(
      'gw_release_phase',
      'Phase of the last release; always 1.',
      release?.run ? [{ labels: { phase: release.run.phase }, value: 1 }] : [],
    ),
  ];
}

function siteMetrics({ support, neighbours, followers }: MetricsSource): Metric[] {
  const presences = ['alive', 'late', 'gone'] as const;
  const isListening = neighbours.status === 'listening';
  return [
    gauge(
      'gw_support_session_running',
      'Whether a support session runs; absent: not set up, or not checked.',
      support.status === 'waiting' || support.status === 'running' ? flag(support.status === 'running') : [],
    ),
    gauge(
      'gw_neighbours',
      'Other robots of the site, by presence; absent: the heartbeat is not received.',
      isListening
        ? presences.flatMap((presence) =>
            known(neighbours.robots.filter((robot) => robot.presence === presence).length, { presence }),
          )
        : [],
    ),
    gauge(
      'gw_page_followers',
      'Pages that follow the live events, by socket.',
      (['full', 'read-only'] as const).flatMap((socket) =>
        known(followers.filter(({ scope }) => scope === socket).length, { socket }),
      ),
    ),
  ];
}

/** The first two by their usual names, so that dashboards made for other programs show them. */
function processMetrics({ process: { nodeVersion, residentBytes, cpuSeconds, busySeconds } }: MetricsSource): Metric[] {
  return [
    gauge('process_resident_memory_bytes', 'Resident memory of the daemon.', known(residentBytes)),
    counter('process_cpu_seconds_total', 'Processor time of the daemon.', known(cpuSeconds)),
    gauge('gw_nodejs_info', 'Version of Node.js; always 1.', [{ labels: { version: nodeVersion }, value: 1 }]),
    counter('gw_event_loop_busy_seconds_total', 'Time that the event loop was busy.', known(busySeconds)),
  ];
}

const gauge = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  type: 'gauge',
  help,
  samples,
});
const counter = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name,
  type: 'counter',
  help,
  samples,
});

function known(value: number | null | undefined, labels?: Sample['labels']): Sample[] {
  return value === null || value === undefined ? [] : [{ value, ...(labels && { labels }) }];
}

const flag = (is: boolean, labels?: Sample['labels']) => known(is ? 1 : 0, labels);

/** A value that still holds: a stale one is none. */
function current<T>(value: LiveValue<T>): readonly T[] {
  return value.status === 'received' && !value.stale ? [value.value] : [];
}
