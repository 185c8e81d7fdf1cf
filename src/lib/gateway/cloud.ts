import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChassisLink } from '../chassis/index.ts';
import type { Cloud, CloudOptions, CloudView, LinkIdentity } from '../cloud/index.ts';
import { assertIdentityOf, IDENTITY_FILE, loadIdentity, readCredentials } from '../enrolment/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import { isOpenRun, type Motion } from '../motion/index.ts';
import { directDialer } from '../net/index.ts';
import type { GatewayHealth } from '../operator/index.ts';
import type { Site } from '../site/index.ts';
import { faultsOf, shadowOf, telemetryOf } from './cloud-state/index.ts';
import { robotMoves } from './robot-moves.ts';

export interface CloudParts
  extends Pick<
    CloudOptions,
    'launched' | 'version' | 'restart' | 'onTunnelNotification' | 'readIdentity' | 'candidate'
  > {
  readonly link: ChassisLink;
  readonly motion: Motion;
  readonly health: () => GatewayHealth;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The cloud module with the functions through which it sees and stops this robot; null for a site file without `cloud`.
 * The module is loaded only if used.
 */
export async function openCloud(site: Site, parts: CloudParts): Promise<Cloud | null> {
  const { link, motion, health, version } = parts;
  const { cloud: config } = site;
  if (config === undefined) return null;
  const { createCloud } = await import('../cloud/index.ts');
  const sources = () => ({ snapshot: link.snapshot(), motion: motion.status(), health: health() });
  const cloud: Cloud = createCloud({
    ...parts,
    site: { ...site, cloud: config },
    dialer: directDialer,
    onStop({ reason, by }) {
      void motion.stopRobot(reason ?? 'Stop from the cloud', by === undefined ? 'cloud' : `cloud, ${by}`);
      return motion.untilStopSaved();
    },
    telemetry: () => telemetryOf(sources()),
    faults: () => faultsOf(sources()),
    shadow() {
      const { link: cloudLink, release } = cloud.view();
      return shadowOf({ version, site, ...sources(), link: cloudLink, release });
    },
    isMoving: () => isMoving(link, motion),
    releaseHealth: () =>
      releaseHealth({
        services: health().services,
        cloudName: cloud.name,
        isChassisConnected: link.state().kind === 'connected',
        isCloudConnected: cloud.view().status === 'connected',
      }),
  });
  return cloud;
}

/**
 * Returns a function that reads the identity of this device, anew only when its file has changed: reading verifies the
 * key, which costs a signature. The function resolves with null when this device is not enrolled, and throws
 * IDENTITY_BROKEN, also for the identity of another robot.
 */
export function createIdentityReader({ chassis, enrolment }: Site): () => Promise<LinkIdentity | null> {
  const identityDir = enrolment?.identityDir;
  let read: { readonly mark: string; readonly identity: LinkIdentity | null } | null = null;
  return async () => {
    if (identityDir === undefined) return null;
    const mark = await fileMark(join(identityDir, IDENTITY_FILE));
    if (read?.mark !== mark) read = { mark, identity: await readAll(identityDir) };
    const { identity } = read;
    if (identity !== null) assertIdentityOf(identity, chassis.serial);
    return identity;
  };
}

async function readAll(identityDir: string): Promise<LinkIdentity | null> {
  for (;;) {
    const identity = await loadIdentity(identityDir);
    if (identity === null) return null;
    const credentials = await readCredentials(identityDir);
    // Replaced between the two reads.
    if (credentials.certificatePem !== identity.certificate.pem) continue;
    const { serial, endpoint, region, certificate } = identity;
    const { fingerprintSha256, notAfter } = certificate;
    return { serial, endpoint, region, ...credentials, fingerprintSha256, notAfter };
  }
}

/** Changes when the file is replaced. */
async function fileMark(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}

/**
 * Whether the robot moves by its poses or its own report, or by an activity of gw; null: not known. A paused tour counts: a
 * restart would forget it.
 */
export function isMoving(link: Pick<ChassisLink, 'snapshot'>, motion: Pick<Motion, 'status'>): boolean | null {
  const { tour, drive, trial, unownedMove } = motion.status();
  if (isOpenRun(tour) || drive?.state === 'running' || trial !== null || unownedMove !== null) return true;
  return robotMoves(link.snapshot());
}

/** What a new version must have to be confirmed: every service but the cloud's, the chassis link, and the cloud link. */
export function releaseHealth(parts: {
  readonly services: GatewayHealth['services'];
  /** Name of the cloud service, which is judged by its connection. */
  readonly cloudName: string;
  readonly isChassisConnected: boolean;
  readonly isCloudConnected: boolean;
}): ReturnType<CloudOptions['releaseHealth']> {
  const missing = [
    ...parts.services
      .filter(({ name, status }) => name !== parts.cloudName && status !== 'running')
      .map(({ name, status }) => `${name} is ${status}`),
    ...(parts.isChassisConnected ? [] : ['the chassis is not connected']),
    ...(parts.isCloudConnected ? [] : ['the cloud is not connected']),
  ];
  return missing.length === 0
    ? { isHealthy: true, missing: null }
    : { isHealthy: false, missing: `${missing.join(', ')}.` };
}

/**
 * How long the cloud of an enrolled device may be not connected before the health is degraded. Project decision: a
 * broker restarts and a mobile link changes cells within a minute; after it, the loss lasts, and a stop from the cloud
 * does not reach the robot.
 */
const CLOUD_DOWN_DEGRADES_MS = 60_000;
/** The state is sampled, so that its duration does not depend on when the health is read. */
const SAMPLE_MS = 5_000;

/** The part of the cloud in the health of the gateway. */
interface CloudHealth extends Disposable {
  view(): Pick<CloudView, 'status' | 'detail'>;
  /** Configured, enrolled, and not connected for at least a minute; or a stop from there is not saved. */
  isDown(): boolean;
}

export function watchCloud(cloud: () => CloudView, clock: Pick<Clock, 'monotonicMs' | 'every'>): CloudHealth {
  let downSinceMs: number | null = null;
  function sample(): CloudView {
    const view = cloud();
    if (needsConnection(view)) downSinceMs ??= clock.monotonicMs();
    else downSinceMs = null;
    return view;
  }
  sample();
  const sampling = clock.every(SAMPLE_MS, sample);
  return {
    view() {
      const { status, detail } = sample();
      return { status, detail };
    },
    isDown() {
      const { received } = sample();
      if (received !== null && received.unsavedStops > 0) return true;
      return downSinceMs !== null && clock.monotonicMs() - downSinceMs >= CLOUD_DOWN_DEGRADES_MS;
    },
    [Symbol.dispose]: () => sampling[Symbol.dispose](),
  };
}

/** A robot may be without a cloud, and is without one until it is enrolled. */
function needsConnection({ status }: CloudView): boolean {
  return status === 'not-connected' || status === 'not-checked';
}

/** A gateway without a cloud link. */
export const noCloud: CloudView = {
  status: 'not-configured',
  detail: 'The site file has no cloud.',
  remedy: null,
  link: null,
  outbox: null,
  received: null,
  seen: null,
  reporting: null,
  release: null,
  uploads: [],
};
