import { resolve } from 'node:path';
import { GwError } from '../error/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { type SeenRequest, startChassis } from './chassis.ts';
import { isRunning, openControl } from './control.ts';
import { makeFolder } from './files.ts';
import type { Sim, SimOptions } from './model.ts';
import { MOST_NEIGHBOURS, type Neighbours, startNeighbours } from './neighbours.ts';
import { assertOurs, type SiteFiles, writeSiteFiles } from './site-files.ts';
import { type SmallService, startBuilding, startVoice } from './small-services.ts';

const DEFAULT_SERIAL = 'SIM-0001';
const DEFAULT_SOFTWARE = '2.12.3-sim';
/** The port of real robots. @source specification, 'Chassis interface' */
const USUAL_PORT = 8090;
const USUAL_OPERATOR_PORT = 5173;

/** Only what the simulator truly does is announced. */
const capabilities = {
  supportsWsV2: true,
  supportsEnableTopicList: true,
  supportsCachedTopics: true,
  supportsRestartService: true,
  supportsWheelStateTopic: true,
  supportsSetControlModeService: true,
  supportsSetEmergencyStopService: true,
} as const;
const RESTART_MS = 1500;
const MOST_REQUESTS = 1000;

/**
 * Starts a robot in a box on 127.0.0.1, with what its site has beside it. Throws PORT_IN_USE, PORT_UNUSABLE,
 * SIM_RUNNING, FILE_EXISTS, FILE_UNWRITABLE; whatever was started by then is ended.
 */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const { clock = systemClock, onEvent = () => {}, serial = DEFAULT_SERIAL, software = DEFAULT_SOFTWARE } = options;
  const { robots = 0 } = options;
  const parts = new Set(options.with);
  const dir = options.dir === undefined ? undefined : resolve(options.dir);
  if (dir === undefined && parts.has('password')) throw new RangeError('a password needs a folder to be written to');
  if (!Number.isInteger(robots) || robots < 0 || robots > MOST_NEIGHBOURS) throw new RangeError('0 to 1000 neighbours');
  if (dir === undefined && robots > 0) throw new RangeError('neighbours need a folder for their key');
  if (dir !== undefined) {
    if (await isRunning(dir)) throw new GwError('SIM_RUNNING', `A simulated robot is running in ${dir} already.`);
    await assertOurs(dir);
    await makeFolder(dir);
  }

  await using undo = new AsyncDisposableStack();
  const seen: SeenRequest[] = [];
  let neighbours: Neighbours | undefined;
  const { server, note } = await startOnPort(options.chassisPort ?? 0, (port) =>
    startChassis({
      port,
      serial,
      software,
      bootMs: options.bootMs ?? 0,
      restartMs: options.bootMs || RESTART_MS,
      capabilities: { ...capabilities, ...options.capabilities },
      otherOri: options.otherOri ?? 'radians',
      clock,
      onRequest(request) {
        seen.push(request);
        if (seen.length > MOST_REQUESTS) seen.shift();
      },
      onFault(name, on) {
        neighbours?.switched(name, on);
        onEvent({ event: 'fault', name, on });
      },
      onBoot: (state) => onEvent({ event: 'boot', state }),
    }),
  );
  undo.defer(server.close);
  const chassis = { host: server.host, port: server.port, serial, software };
  if (note !== undefined) onEvent({ event: 'note', text: note });
  onEvent({ event: 'listening', part: 'chassis', url: `http://${chassis.host}:${chassis.port}` });

  async function startPart(part: 'voice' | 'building', start: () => Promise<SmallService>): Promise<string | null> {
    if (!parts.has(part)) return null;
    const { url } = undo.use(await start());
    onEvent({ event: 'listening', part, url });
    return url;
  }
  const voiceUrl = await startPart('voice', startVoice);
  const buildingUrl = await startPart('building', startBuilding);

  const core = {
    chassis,
    robots,
    faults: server.faults.list,
    setFault: server.faults.set,
    settled: server.settled,
  };
  let files: SiteFiles | undefined;
  if (dir !== undefined) {
    files = await writeSiteFiles({
      dir,
      chassis,
      operatorPort: options.operatorPort ?? USUAL_OPERATOR_PORT,
      voiceUrl,
      buildingUrl,
      password: parts.has('password'),
      neighbours: robots > 0,
      when: clock.wall(),
    });
    if (files.neighbourFiles !== null) {
      neighbours = undo.use(
        await startNeighbours({
          ...files.neighbourFiles,
          robots,
          software,
          faults: server.faults,
          clock,
          onUnsent: (reason) =>
            onEvent({ event: 'note', text: `The beats of the neighbours are not sent (${reason}).` }),
          ...(options.heartbeatPort !== undefined && { port: options.heartbeatPort }),
        }),
      );
      const { to, firstSerial, lastSerial } = neighbours;
      onEvent({ event: 'fleet', robots, firstSerial, lastSerial, to });
    }
    const control = undo.use(await openControl(core, dir, options.pointerFile));
    onEvent({ event: 'listening', part: 'control', url: control.url });
    const { sitePath, passwordPath } = files;
    onEvent({ event: 'ready', dir, sitePath, chassis, voiceUrl, buildingUrl, passwordPath });
  }

  const running = undo.move();
  return {
    ...core,
    voiceUrl,
    buildingUrl,
    sitePath: files?.sitePath ?? null,
    passwordPath: files?.passwordPath ?? null,
    state: () => ({
      ...server.robot.pose(),
      speedMS: server.robot.speedMS(),
      moving: server.robot.moves.isMoving(),
      docked: server.robot.isDocked(),
      topicConnections: server.connections(),
    }),
    requests: () => [...seen],
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
    },
  };
}

/** On the usual port where that is free, and otherwise on a free one, said by a note. */
async function startOnPort<T>(
  port: number | 'usual',
  start: (port: number) => Promise<T>,
): Promise<{ server: T; note?: string }> {
  if (port !== 'usual') return { server: await start(port) };
  try {
    return { server: await start(USUAL_PORT) };
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'PORT_IN_USE') throw error;
    return { server: await start(0), note: `Port ${USUAL_PORT} is taken, so the chassis listens on another one.` };
  }
}
