import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { createChassisLink } from '../chassis/index.ts';
import type { Cloud } from '../cloud/index.ts';
import { createDayList, createDelivery } from '../delivery/index.ts';
import { asGwError } from '../error/index.ts';
import { createEvidenceWatch, readAtStart } from '../evidence/index.ts';
import type { Fleet, FleetOptions } from '../fleet/index.ts';
import { type Clock, createSupervisor, type Log, type SupervisorEvent, systemClock } from '../lifecycle/index.ts';
import { createMotion, createTrialStore, type KeepingTrouble, type StopLatch } from '../motion/index.ts';
import { type Dialer, directDialer } from '../net/index.ts';
import {
  createJournal,
  createOperator,
  type GatewayHealth,
  isCertificateSound,
  type LogSetting,
  noSupport,
  READ_ONLY_SOCKET,
} from '../operator/index.ts';
import { claimStateWithin, loadSite, readSecret, type Site } from '../site/index.ts';
import type { Support, SupportOptions } from '../tunnel/index.ts';
import { type CertificateRenewal, createCertificateRenewal } from './certificate-renewal.ts';
import { watchCertificate } from './certificate-watch.ts';
import { createClockReader } from './clock-reader.ts';
import { watchClock } from './clock-watch.ts';
import { type CloudParts, createIdentityReader, noCloud, openCloud, watchCloud } from './cloud.ts';
import { watchDevices } from './device-watch.ts';
import { watchDisk } from './disk-watch.ts';
import type { OutputState } from './line-writer.ts';
import { coarseState, currentMapMark, fleetHealth, neighboursView, notListening } from './neighbours.ts';
import { renewalHold, renewalOf } from './renewal-parts.ts';
import { nameHolder } from './running-gateway.ts';
import type { ServeEvent } from './serve.result.ts';

/** Project decisions: resident memory from which the engine prefers memory, and speed again. Idle it is 106 to 128 MB. */
const MEMORY_ABOVE_BYTES = 170_000_000;
const SPEED_BELOW_BYTES = 140_000_000;
const CHECK_MS = 5_000;
/** A disk that does not answer must not keep the gateway from answering a stop. Project decision. */
const CLAIM_MS = 3_000;

export interface GatewayOptions {
  readonly sitePath: string;
  readonly log: Log;
  /** State of the output that `log` writes to; absent where the caller does not know. */
  readonly logState?: () => OutputState;
  /** The level of the written log; absent: it is not changed while the gateway runs. */
  readonly logSetting?: LogSetting;
  readonly clock?: Clock;
  readonly dialer?: Dialer;
  /** Folder of the built pages. */
  readonly assetsDir: string;
  /** Folder of the generated contracts of the operator server. */
  readonly contractsDir: string;
  /** Version of gw, shown by the health route. */
  readonly version: string;
  readonly onEvent: (event: ServeEvent) => void;
  /** Asks the caller to stop this gateway, so that its supervisor starts the current release. */
  readonly onRestart: (reason: string) => void;
  /** Words that start gw: the absolute paths of Node.js and of bin/run.js. */
  readonly program: readonly [string, ...string[]];
  /** The folders of the launcher; absent or null: gw was not started by it. */
  readonly launched?: CloudParts['launched'];
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

export interface Gateway {
  readonly ports: { readonly operator: number; readonly readOnly: number };
  health(): GatewayHealth;
  /** Stops every service in reverse order, within 4.5 s. May be called twice. */
  stop(): Promise<void>;
}

/**
 * Starts the daemon of one robot: the chassis link, motion, the heartbeat when the site file has one, and the operator
 * server on both sockets. Resolves when all of them run, except those that are retried: only services that guard
 * movement or answer a stop fail the start. It then rejects with nothing left running: SITE_FILE_NOT_FOUND,
 * SITE_FILE_INVALID, SECRET_UNREADABLE for the secret of the chassis, PORT_IN_USE, GATEWAY_RUNNING. An unreachable chassis, an unreadable
 * evidence file or device password, a failed heartbeat and an unwritable state folder only degrade the health.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { sitePath, version, onEvent, signal } = options;
  const clock = options.clock ?? systemClock;
  const beganMs = clock.monotonicMs();
  const site = await loadSite(sitePath);
  const [secret, evidenceAtStart] = await Promise.all([
    site.chassis.secretFile === undefined
      ? undefined
      : readSecret(site.chassis.secretFile, 'chassis.secretFile, the Secret request header'),
    readAtStart(site.evidenceFile),
  ]);
  signal.throwIfAborted();

  const journal = createJournal(options.log, clock);
  const { log } = journal;
  const link = createChassisLink({
    endpoint: { host: site.chassis.host, port: site.chassis.port },
    expectedSerial: site.chassis.serial,
    dialer: options.dialer ?? directDialer,
    clock,
    log,
    secret,
  });
  const evidence = createEvidenceWatch({
    path: site.evidenceFile,
    serial: site.chassis.serial,
    ...evidenceAtStart,
    clock,
    log,
  });
  const trialStore = createTrialStore({ path: site.evidenceFile, log, ledger: evidence });
  const motion = createMotion({ link, site, evidence, trialStore, clock, log });
  const delivery = site.delivery === undefined ? null : createDelivery({ site, link, motion, clock, log });
  const dayList = createDayList({ site, motion, clock, log });
  const fleet = await openFleet(site, { state: () => coarseState(link, motion), clock, log });
  const reserveBytes = site.disk.reserveMb * MB;
  using starting = new DisposableStack();
  starting.use(preferMemoryAfterBursts(clock));
  const disks = {
    state: starting.use(watchDisk({ path: site.stateDir, key: 'stateDir', reserveBytes, isHeld: true, clock, log })),
    media: starting.use(
      watchDisk({ path: site.operator.mediaDir, key: 'operator.mediaDir', reserveBytes, isHeld: false, clock, log }),
    ),
  };
  const identity = createIdentityReader(site);
  const renewal: CertificateRenewal = starting.use(
    createCertificateRenewal({
      ...renewalOf(site, { link, dialer: directDialer }),
      ...{ read: identity, hold: () => renewalHold(link.state(), cloud?.view().release ?? null), clock, log },
    }),
  );
  const cloud: Cloud | null = await openCloud(site, {
    ...{ link, motion, health, version, clock, log },
    ...{ readIdentity: renewal.readIdentity, candidate: renewal.candidate },
    launched: options.launched ?? null,
    restart: options.onRestart,
    onTunnelNotification: (notification, isRepeated) => support?.offer(notification, isRepeated),
  });
  const support = await openSupport(site, cloud, { program: options.program, clock, log });
  const certificate = starting.use(
    watchCertificate({ isConfigured: site.enrolment !== undefined, read: identity, clock, log }),
  );
  const wallClock = starting.use(
    watchClock({ read: createClockReader(site, { clock, dialer: directDialer }), clock, log }),
  );
  const devices = starting.use(watchDevices({ site, dialer: directDialer, clock }));
  const cloudView = () => cloud?.view() ?? noCloud;
  const cloudHealth = starting.use(watchCloud(cloudView, clock));

  function health(): GatewayHealth {
    const { stop, keepingTrouble, poseAlarmTrouble = null } = motion.status();
    return gatewayHealth({
      version,
      upForMs: Math.round(clock.monotonicMs() - beganMs),
      services: supervisor.health(),
      evidence: evidence.report(),
      ...{ stop, keepingTrouble, poseAlarmTrouble },
      cloud: cloudHealth.view(),
      cloudIsDown: cloudHealth.isDown(),
      support: supportHealth(support),
      certificate: { ...certificate.view(), renewal: renewal.view() },
      clock: wallClock.view(),
      devices: devices.view(),
      fleet: fleetHealth(neighbours()),
      operatorTrouble: operator.trouble(),
      disk: { state: disks.state.view(), media: disks.media.view() },
      log: logHealth(options.logState?.()),
    });
  }

  function lastErrorOf(name: string): string | null {
    return supervisor.health().find((service) => service.name === name)?.lastError ?? null;
  }

  const neighbours = () =>
    fleet === null ? notListening : neighboursView(fleet.view(), lastErrorOf(fleet.name), currentMapMark(link));
  const operator = createOperator({
    site,
    link,
    motion,
    health,
    neighbours,
    cloud: cloudView,
    checkCloudPath: cloud === null ? null : (path) => cloud.checkPath(path),
    support,
    clock,
    log,
    assetsDir: options.assetsDir,
    contractsDir: options.contractsDir,
    hostName: hostname(),
    journal,
    dayList,
    ...(delivery !== null && { delivery }),
    ...(options.logSetting && { logSetting: options.logSetting }),
  });
  const supervisor = createSupervisor(
    [
      link,
      // Ends after motion, so that it has the end of a drive that is cancelled for the shutdown.
      dayList,
      motion,
      evidence,
      ...(delivery === null ? [] : [delivery]),
      ...(fleet === null ? [] : [fleet]),
      operator,
      ...(cloud === null ? [] : [cloud]),
      ...(support === null ? [] : [support]),
    ],
    {
      clock,
      onEvent(event) {
        const emitted = eventOf(event);
        const { event: kind, ...fields } = emitted;
        if (kind === 'failed' || kind === 'stop-failed') log.error({ audit: true, ...fields }, `service ${kind}`);
        else log.info(fields, `service ${kind}`);
        onEvent(emitted);
      },
    },
  );

  try {
    // Before anything is sent to the chassis: a second gateway would cancel the drives of the first.
    await operator.reserve().catch(async (error: unknown) => {
      throw await nameHolder(error, site);
    });
    await claimStateWithin(CLAIM_MS, site, { clock, log });
    await supervisor.start(signal);
  } catch (error) {
    await operator.stop();
    throw error;
  }
  const ports = { operator: site.operator.port, readOnly: READ_ONLY_SOCKET.port };
  const tookMs = Math.round(clock.monotonicMs() - beganMs);
  log.info({ site: site.name, serial: site.chassis.serial, ports, tookMs, version }, 'ready');
  onEvent({ event: 'ready', site: site.name, serial: site.chassis.serial, ports, tookMs });
  const watches = starting.move();
  return {
    ports,
    health,
    async stop() {
      watches.dispose();
      await supervisor.stop();
      journal.flush();
    },
  };
}

/**
 * The engine keeps the pages of its heap that a burst has freed. While it prefers memory to speed it returns them within
 * seconds, for a tenth of its speed, so it does only after a burst.
 */
export function preferMemoryAfterBursts(
  clock: Pick<Clock, 'every'>,
  residentBytes: () => number = process.memoryUsage.rss,
  setFlag: (flag: string) => void = setFlagsFromString,
): Disposable {
  let prefersMemory = false;
  return clock.every(CHECK_MS, () => {
    const bytes = residentBytes();
    if (prefersMemory ? bytes >= SPEED_BELOW_BYTES : bytes <= MEMORY_ABOVE_BYTES) return;
    prefersMemory = !prefersMemory;
    setFlag(prefersMemory ? '--optimize-for-size' : '--no-optimize-for-size');
  });
}

const MB = 1_000_000;

/** null for a site file without `fleet`; the module is loaded only if used. */
async function openFleet(site: Site, parts: Pick<FleetOptions, 'state' | 'clock' | 'log'>): Promise<Fleet | null> {
  if (site.fleet === undefined) return null;
  const { createFleet } = await import('../fleet/index.ts');
  return createFleet({ ...site.fleet, serial: site.chassis.serial, stateDir: site.stateDir, ...parts });
}

function eventOf(event: SupervisorEvent): ServeEvent {
  const service = event.name;
  switch (event.kind) {
    case 'started':
      return { event: 'started', service, detail: event.detail, tookMs: Math.round(event.tookMs) };
    case 'failed':
      return {
        event: 'failed',
        service,
        message: asGwError(event.error).message,
        remedy: asGwError(event.error).remedy,
        retryInMs: Math.round(event.retryInMs),
      };
    case 'stopped':
      return { event: 'stopped', service, tookMs: Math.round(event.tookMs) };
    case 'stop-failed':
      return { event: 'stop-failed', service, message: asGwError(event.error).message };
  }
}

/** The health of each part of the gateway. */
export interface HealthParts extends Omit<GatewayHealth, 'status'> {
  readonly stop: Pick<StopLatch, 'saved'>;
  /** Result of the last write to the folder of the stop latch; takes precedence over the disk check. */
  readonly keepingTrouble: KeepingTrouble | null;
  /** Why the pose alarm is not saved there; likewise. */
  readonly poseAlarmTrouble: KeepingTrouble | null;
  /** Whether the cloud is configured and enrolled, and not connected for too long, or a stop from it is not saved. */
  readonly cloudIsDown: boolean;
  /** What does not work in the operator server. */
  readonly operatorTrouble: string | null;
}

/**
 * The health of the whole gateway: 'ok' only if every part that movement or a stop needs works, the stop from the cloud
 * included.
 */
export function gatewayHealth({
  stop,
  keepingTrouble,
  poseAlarmTrouble,
  cloudIsDown,
  operatorTrouble,
  ...parts
}: HealthParts): GatewayHealth {
  const trouble = keepingTrouble ?? poseAlarmTrouble;
  const unkept = trouble && { status: 'unusable' as const, detail: trouble.reason, remedy: trouble.remedy };
  const disk = { ...parts.disk, state: { ...parts.disk.state, ...unkept } };
  const isSound =
    parts.evidence.status === 'as-read' &&
    parts.services.every((service) => service.status === 'running') &&
    operatorTrouble === null &&
    !cloudIsDown &&
    parts.support.records !== 'failing' &&
    isCertificateSound(parts.certificate) &&
    parts.clock?.status !== 'wrong' &&
    parts.fleet.status !== 'conflict' &&
    stop.saved !== false &&
    Object.values(disk).every(({ status }) => status === 'ok');
  return { ...parts, disk, status: isSound ? 'ok' : 'degraded' };
}

/** The state of the log output; separate from the status of the gateway, since it does not affect movement. */
export function logHealth(state: OutputState | undefined): GatewayHealth['log'] {
  if (state === undefined)
    return { status: 'not-checked', droppedLines: null, detail: 'The destination of the log is unknown.' };
  const { status, failure, droppedLines } = state;
  const now = {
    writing: 'The log is written.',
    unread: 'The reader of the log is not reading; lines wait, and the gateway continues.',
    discarded: 'The log goes to /dev/null and is discarded.',
    failing: `The log cannot be written: ${failure}.`,
  }[status];
  const lost = droppedLines === 0 ? '' : ` Lines dropped since the start: ${droppedLines}.`;
  return { status, droppedLines, detail: `${now}${lost}` };
}

/**
 * Remote support of this robot, also without `cloud.tunnel`: it then refuses each notification and records that. Null for
 * a site file without `cloud`.
 */
async function openSupport(
  site: Site,
  cloud: Cloud | null,
  parts: Pick<SupportOptions, 'program' | 'clock' | 'log'>,
): Promise<Support | null> {
  if (cloud === null) return null;
  const { createSupport } = await import('../tunnel/session/index.ts');
  return createSupport({ ...parts, site, sendRecord: cloud.sendRecord });
}

/** The part of remote support in the health of the gateway; records that fail come first. */
function supportHealth(support: Pick<Support, 'view'> | null): GatewayHealth['support'] {
  const { status, detail, records } = support?.view() ?? noSupport;
  return { status, records: records.status, detail: records.status === 'failing' ? records.detail : detail };
}
