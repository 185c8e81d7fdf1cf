import { resolve } from 'node:path';
import { GwError } from '../error/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { startChassis } from './chassis/chassis.ts';
import type { ReceivedRequest } from './chassis/http/reception.ts';
import { openCa } from './cloud/enrolment.ts';
import { openControl } from './control/control.ts';
import { isRunning } from './control/request.ts';
import { makeFolder } from './files.ts';
import { MAX_NEIGHBOURS, neighbourAddresses } from './fleet/neighbours.ts';
import type { Sim, SimOptions } from './model.ts';
import { startCloudPart } from './parts/cloud-part.ts';
import { startEnrolmentPart } from './parts/enrolment-part.ts';
import { startNeighboursPart } from './parts/neighbours-part.ts';
import { createPartFaults, type FaultyParts } from './parts/part-faults.ts';
import type { PartStart } from './parts/part-start.ts';
import { startSiteService } from './parts/site-service.ts';
import { startTabletPart } from './parts/tablet-part.ts';
import { assertWrittenBySim, type SiteFiles, writeSiteFiles } from './site-files.ts';
import { createStages } from './waiting.ts';

const DEFAULT_SERIAL = 'SIM-0001';
const DEFAULT_SOFTWARE = '2.12.3-sim';
/** The port of real robots. @source specification, 'Chassis interface' */
const DEFAULT_CHASSIS_PORT = 8090;
const DEFAULT_OPERATOR_PORT = 5173;

/** Capabilities that the simulator implements. */
const capabilities = {
  supportsWsV2: true,
  supportsEnableTopicList: true,
  supportsCachedTopics: true,
  supportsRestartService: true,
  supportsWheelStateTopic: true,
  supportsSetControlModeService: true,
  supportsSetEmergencyStopService: true,
  supportsSystemSettings: true,
} as const;
const DEFAULT_SPEED_M_S = 1;
const DEFAULT_POSE_MS = 100;
const RESTART_MS = 1500;
const MAX_REQUESTS = 1000;

/**
 * Starts a simulated robot on 127.0.0.1 with the selected parts of its site. Throws PORT_IN_USE, PORT_UNUSABLE,
 * SIM_RUNNING, FILE_EXISTS, FILE_UNREADABLE, FILE_UNWRITABLE, and then ends the parts that it has started.
 */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const { clock = systemClock, onEvent = () => {}, serial = DEFAULT_SERIAL, software = DEFAULT_SOFTWARE } = options;
  const { robots = 0, speedMS = DEFAULT_SPEED_M_S, poseMs = DEFAULT_POSE_MS } = options;
  const parts = new Set(options.with);
  const dir = options.dir === undefined ? undefined : resolve(options.dir);
  assertUsable({ robots, speedMS, poseMs, hasFolder: dir !== undefined, hasPassword: parts.has('password') });
  using stages = createStages(clock, onEvent, 'a simulator that may run in this folder');
  if (dir !== undefined) {
    if (await isRunning(dir)) throw new GwError('SIM_RUNNING', `A simulated robot is already running in ${dir}.`);
    await assertWrittenBySim(dir);
    await makeFolder(dir);
  }

  await using undo = new AsyncDisposableStack();
  const received: ReceivedRequest[] = [];
  const started: FaultyParts = { neighbours: null, cloud: null, tablet: null };
  const partFaults = createPartFaults(started);
  stages.enter('the port of the chassis');
  const { server, note } = await startOnPort(options.chassisPort ?? 0, (port) =>
    startChassis({
      port,
      serial,
      software,
      bootMs: options.bootMs ?? 0,
      restartMs: options.bootMs || RESTART_MS,
      capabilities: { ...capabilities, ...options.capabilities },
      speedMS,
      poseMs,
      clock,
      onRequest(request) {
        received.push(request);
        if (received.length > MAX_REQUESTS) received.shift();
      },
      onFault(name, on) {
        partFaults.apply(name, on);
        onEvent({ event: 'fault', name, on });
      },
      onBoot: (state) => onEvent({ event: 'boot', state }),
    }),
  );
  undo.defer(server.close);
  const chassis = { host: server.host, port: server.port, serial, software };
  if (note !== undefined) onEvent({ event: 'note', text: note });
  onEvent({ event: 'listening', part: 'chassis', url: `http://${chassis.host}:${chassis.port}` });

  const { faults } = server;
  const start: PartStart = { undo, stages, onEvent, clock, faults, serial, dir };
  const voiceUrl = parts.has('voice') ? await startSiteService(start, 'voice') : null;
  const buildingUrl = parts.has('building') ? await startSiteService(start, 'building') : null;

  // One CA for all parts of the simulated cloud.
  stages.enter('the keys of the CA of the cloud');
  const ca = parts.has('enrolment') || parts.has('cloud') ? await openCa(dir) : undefined;
  const enrolment = ca !== undefined && parts.has('enrolment') ? await startEnrolmentPart(start, ca) : null;
  let releaseKeyFile: string | null = null;
  if (ca !== undefined && parts.has('cloud')) {
    const part = await startCloudPart(start, ca, options.cloud);
    started.cloud = part.cloud;
    releaseKeyFile = part.releaseKeyFile;
  }
  if (parts.has('tablet')) started.tablet = await startTabletPart(start, options.tablet);
  const { cloud, tablet } = started;

  const core = {
    chassis,
    robots,
    parts: [...parts],
    faults: faults.list,
    setFault: faults.set,
    settled: async () => {
      await server.settled();
      await partFaults.settled();
    },
  };
  let files: SiteFiles | undefined;
  if (dir !== undefined) {
    stages.enter('the site file and its secrets');
    files = await writeSiteFiles({
      dir,
      chassis,
      operatorPort: options.operatorPort ?? DEFAULT_OPERATOR_PORT,
      voiceUrl,
      buildingUrl,
      enrolmentUrl: enrolment?.url ?? null,
      cloud: cloud === null ? null : { places: cloud.places, topics: options.cloud?.topics ?? {}, releaseKeyFile },
      tablet: tablet ? { host: tablet.host, port: tablet.port, model: tablet.identity.model } : null,
      password: parts.has('password'),
      evidence: options.evidence ?? true,
      neighbours: robots > 0 ? neighbourAddresses(robots) : null,
      when: clock.wall(),
    });
    if (files.neighbourFiles !== null) {
      started.neighbours = await startNeighboursPart(start, {
        ...files.neighbourFiles,
        robots,
        software,
        map: () => server.robot.maps.current(),
        ...(options.heartbeatPort !== undefined && { port: options.heartbeatPort }),
      });
    }
    stages.enter('the control socket');
    const control = undo.use(await openControl({ ...core, cloud }, dir, options.pointerFile));
    onEvent({ event: 'listening', part: 'control', url: control.url });
    const { sitePath, passwordPath } = files;
    const codePath = enrolment?.codePath ?? null;
    onEvent({ event: 'ready', dir, sitePath, chassis, voiceUrl, buildingUrl, passwordPath, codePath });
  }

  const running = undo.move();
  return {
    ...core,
    voiceUrl,
    buildingUrl,
    cloud,
    tablet,
    enrolment,
    sitePath: files?.sitePath ?? null,
    passwordPath: files?.passwordPath ?? null,
    state: () => ({
      ...server.robot.pose(),
      speedMS: server.robot.speedMS(),
      moving: server.robot.moves.isMoving(),
      docked: server.robot.isDocked(),
      topicConnections: server.connections(),
    }),
    requests: () => [...received],
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
    },
  };
}

/** Throws RangeError for options that no simulator can have. */
function assertUsable(options: {
  readonly robots: number;
  readonly speedMS: number;
  readonly poseMs: number;
  readonly hasFolder: boolean;
  readonly hasPassword: boolean;
}): void {
  const { robots, speedMS, poseMs, hasFolder, hasPassword } = options;
  if (!hasFolder && hasPassword) throw new RangeError('a password needs a folder');
  if (!Number.isInteger(robots) || robots < 0 || robots > MAX_NEIGHBOURS) throw new RangeError('0 to 1000 neighbours');
  if (!(speedMS >= 0.02 && speedMS <= 1)) throw new RangeError('a speed of 0.02 to 1 m/s');
  if (!(poseMs >= 100 && poseMs <= 10_000)) throw new RangeError('100 to 10,000 ms between two poses');
  if (!hasFolder && robots > 0) throw new RangeError('neighbours need a folder for their key');
}

/** Starts on the default port if free, otherwise on a free port with a note. */
async function startOnPort<T>(
  port: number | 'usual',
  start: (port: number) => Promise<T>,
): Promise<{ server: T; note?: string }> {
  if (port !== 'usual') return { server: await start(port) };
  try {
    return { server: await start(DEFAULT_CHASSIS_PORT) };
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'PORT_IN_USE') throw error;
    return {
      server: await start(0),
      note: `Port ${DEFAULT_CHASSIS_PORT} is in use, so the chassis listens on another port.`,
    };
  }
}
