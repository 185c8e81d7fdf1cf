import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { GwError } from '../error/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { startChassis } from './chassis/chassis.ts';
import type { ReceivedRequest } from './chassis/http/reception.ts';
import { type Cloud, startCloud } from './cloud/cloud.ts';
import { type EnrolmentEndpoint, openCa, startEnrolment, writeCode } from './cloud/enrolment.ts';
import { openReleaseKey } from './cloud/services/release.ts';
import { openControl } from './control/control.ts';
import { isRunning } from './control/request.ts';
import { makeFolder } from './files.ts';
import { MAX_NEIGHBOURS, type Neighbours, neighbourAddresses, startNeighbours } from './fleet/neighbours.ts';
import { closeServer, listenOn } from './listen.ts';
import type { Sim, SimOptions } from './model.ts';
import { assertWrittenBySim, type SiteFiles, writeSiteFiles } from './site-files.ts';
import { startTablet, type Tablet } from './tablet/index.ts';
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
/** Broker and region in every enrolment answer; the specification names this region. */
const BROKER_HOST = '127.0.0.1';
const REGION = 'eu-central-1';
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
  if (dir === undefined && parts.has('password')) throw new RangeError('a password needs a folder');
  if (!Number.isInteger(robots) || robots < 0 || robots > MAX_NEIGHBOURS) throw new RangeError('0 to 1000 neighbours');
  if (!(speedMS >= 0.02 && speedMS <= 1)) throw new RangeError('a speed of 0.02 to 1 m/s');
  if (!(poseMs >= 100 && poseMs <= 10_000)) throw new RangeError('100 to 10,000 ms between two poses');
  if (dir === undefined && robots > 0) throw new RangeError('neighbours need a folder for their key');
  using stages = createStages(clock, onEvent, 'a simulator that may run in this folder');
  if (dir !== undefined) {
    if (await isRunning(dir)) throw new GwError('SIM_RUNNING', `A simulated robot is already running in ${dir}.`);
    await assertWrittenBySim(dir);
    await makeFolder(dir);
  }

  await using undo = new AsyncDisposableStack();
  const received: ReceivedRequest[] = [];
  let neighbours: Neighbours | undefined;
  let cloud: Cloud | undefined;
  let tablet: Tablet | undefined;
  let releaseKeyFile: string | null = null;
  let partsSettled: Promise<unknown> = Promise.resolve();
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
        neighbours?.applyFault(name, on);
        const applied = Promise.all([cloud?.applyFault(name, on), tablet?.applyFault(name, on)]);
        partsSettled = Promise.allSettled([partsSettled]).then(() => applied);
        // `settled` reports a failure; it must not become an unhandled rejection.
        for (const promise of [applied, partsSettled]) promise.catch(() => {});
        onEvent({ event: 'fault', name, on });
      },
      onBoot: (state) => onEvent({ event: 'boot', state }),
    }),
  );
  undo.defer(server.close);
  const chassis = { host: server.host, port: server.port, serial, software };
  if (note !== undefined) onEvent({ event: 'note', text: note });
  onEvent({ event: 'listening', part: 'chassis', url: `http://${chassis.host}:${chassis.port}` });

  async function startPart(part: keyof typeof smallServices): Promise<string | null> {
    if (!parts.has(part)) return null;
    stages.enter(`the port of ${part}`);
    const { url } = undo.use(await startSmallService(smallServices[part]));
    onEvent({ event: 'listening', part, url });
    return url;
  }
  const voiceUrl = await startPart('voice');
  const buildingUrl = await startPart('building');

  // One CA for all parts of the simulated cloud.
  stages.enter('the keys of the CA of the cloud');
  const ca = parts.has('enrolment') || parts.has('cloud') ? await openCa(dir) : undefined;
  let enrolment: (Pick<EnrolmentEndpoint, 'url' | 'requests'> & { caPem: string; newCode(): string }) | undefined;
  let codePath: string | null = null;
  if (ca !== undefined && parts.has('enrolment')) {
    const newCodeFile = async () => {
      if (dir !== undefined) codePath = await writeCode(dir, endpoint.newCode(serial));
    };
    stages.enter('the certificates of the enrolment endpoint');
    const endpoint = undo.use(
      await startEnrolment({
        ca,
        clock,
        faults: server.faults,
        broker: BROKER_HOST,
        region: REGION,
        // A failed write must not change the answer.
        onUsed: () => newCodeFile().catch(() => {}),
      }),
    );
    await newCodeFile();
    const { url, requests } = endpoint;
    enrolment = { url, requests, caPem: ca.caPem, newCode: () => endpoint.newCode(serial) };
    onEvent({ event: 'listening', part: 'enrolment', url });
  }

  if (ca !== undefined && parts.has('cloud')) {
    stages.enter('the certificates and ports of the broker, the storage and the tunnel service');
    cloud = undo.use(
      await startCloud({
        ...options.cloud,
        ca,
        faults: server.faults,
        clock,
        serial,
        onClosed: ({ clientId, reason }) =>
          onEvent({ event: 'note', text: `The MQTT broker closed the connection of '${clientId}': ${reason}.` }),
        onTunnelViolation: (side, reason) =>
          onEvent({ event: 'note', text: `The tunnel service closed the connection of the ${side}: ${reason}.` }),
      }),
    );
    stages.enter('the key of releases');
    if (dir !== undefined) releaseKeyFile = await openReleaseKey(dir);
    const { mqtt, storageUrl, tunnel } = cloud.places;
    onEvent({ event: 'listening', part: 'mqtt', url: `mqtts://${mqtt.host}:${mqtt.port}` });
    onEvent({ event: 'listening', part: 'mqtt-alpn', url: `mqtts://${mqtt.host}:${mqtt.fallbackPort}` });
    onEvent({ event: 'listening', part: 'storage', url: storageUrl });
    onEvent({ event: 'listening', part: 'tunnel', url: `wss://${tunnel.host}:${tunnel.port}` });
  }

  if (parts.has('tablet')) {
    let isOpen = true;
    stages.enter('the key and the port of the tablet');
    tablet = undo.use(
      await startTablet({
        ...options.tablet,
        faults: server.faults,
        clock,
        onPort(port, problem) {
          const text = port === null ? 'The port of the tablet is closed' : `The tablet listens on port ${port}`;
          if (problem !== undefined || isOpen !== (port !== null)) {
            onEvent({ event: 'note', text: problem === undefined ? `${text}.` : `${text}: ${problem}` });
          }
          isOpen = port !== null;
        },
      }),
    );
    onEvent({ event: 'listening', part: 'tablet', url: `tcp://${tablet.host}:${tablet.port}` });
  }

  const core = {
    chassis,
    robots,
    parts: [...parts],
    faults: server.faults.list,
    setFault: server.faults.set,
    settled: async () => {
      await server.settled();
      await partsSettled;
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
      cloud: cloud === undefined ? null : { places: cloud.places, topics: options.cloud?.topics ?? {}, releaseKeyFile },
      tablet: tablet ? { host: tablet.host, port: tablet.port, model: tablet.identity.model } : null,
      password: parts.has('password'),
      evidence: options.evidence ?? true,
      neighbours: robots > 0 ? neighbourAddresses(robots) : null,
      when: clock.wall(),
    });
    if (files.neighbourFiles !== null) {
      stages.enter('the neighbours');
      neighbours = undo.use(
        await startNeighbours({
          ...files.neighbourFiles,
          robots,
          software,
          map: () => server.robot.maps.current(),
          faults: server.faults,
          clock,
          onUnsent: (reason) =>
            onEvent({ event: 'note', text: `Heartbeats of the neighbours cannot be sent (${reason}).` }),
          ...(options.heartbeatPort !== undefined && { port: options.heartbeatPort }),
        }),
      );
      const { to, firstSerial, lastSerial } = neighbours;
      onEvent({ event: 'fleet', robots, firstSerial, lastSerial, to });
    }
    stages.enter('the control socket');
    const control = undo.use(await openControl({ ...core, cloud: cloud ?? null }, dir, options.pointerFile));
    onEvent({ event: 'listening', part: 'control', url: control.url });
    const { sitePath, passwordPath } = files;
    onEvent({ event: 'ready', dir, sitePath, chassis, voiceUrl, buildingUrl, passwordPath, codePath });
  }

  const running = undo.move();
  return {
    ...core,
    voiceUrl,
    buildingUrl,
    cloud: cloud ?? null,
    tablet: tablet ?? null,
    enrolment: enrolment === undefined ? null : { ...enrolment, codePath },
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

/** Minimal HTTP services of the site, each with one path. Their interfaces are not shown by the specification. */
const smallServices = {
  voice: {
    path: '/config',
    answer: { service: 'simulated voice assistant', language: 'de-DE', wakeWord: 'Hallo Robbi', volume: 0.6 },
  },
  building: {
    path: '/status',
    answer: {
      service: 'simulated building module',
      lift: { floor: 0, door: 'closed' },
      doors: [{ name: 'Küchentür', open: false }],
    },
  },
} as const;

async function startSmallService({ path, answer }: { readonly path: string; readonly answer: object }) {
  const text = JSON.stringify(answer);
  const server = createServer((request, response) => {
    request.resume();
    const known = request.url?.split('?', 1)[0] === path;
    const allowed = request.method === 'GET' || request.method === 'HEAD';
    const [status, body] = known && allowed ? [200, text] : [known ? 405 : 404, '{"error":"not found"}'];
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  const port = await listenOn(server, '127.0.0.1', 0);
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}
