import type { Clock } from '../../lifecycle/index.ts';
import { createFaults, type FaultName, type Faults } from '../faults.ts';
import { createBoot } from './boot.ts';
import { createPort } from './http/port.ts';
import { createReception, type ReceivedRequest } from './http/reception.ts';
import { createRequestHandler } from './http/request-handler.ts';
import { createUpgradeHandler } from './http/upgrade-handler.ts';
import { createHugeText, PAGE } from './http/wrong-answers.ts';
import { topicMessage } from './messages.ts';
import { createPoseNoise } from './noise.ts';
import { createRest } from './rest/rest.ts';
import { type Aspect, createRobot } from './robot.ts';
import { createTopicServer } from './topic-server.ts';

export interface ChassisOptions {
  readonly port: number;
  readonly serial: string;
  readonly software: string;
  readonly bootMs: number;
  readonly restartMs: number;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly speedMS: number;
  readonly poseMs: number;
  readonly clock: Clock;
  readonly onFault: (name: FaultName, on: boolean) => void;
  readonly onRequest: (request: ReceivedRequest) => void;
  readonly onBoot: (state: 'booting' | 'ready') => void;
}

const TICK_MS = 50;

/** Faults that stand for another peer at this address, so existing connections are closed. */
const droppingFaults: readonly FaultName[] = ['wrong-serial', 'html', 'redirect', 'booting', 'server-error'];

/** The simulated chassis on its port: REST, topics and the faults of transport. Throws PORT_IN_USE. */
export async function startChassis(options: ChassisOptions) {
  const { clock, serial, software } = options;
  const now = () => clock.wall().getTime() / 1000;
  const faults: Faults = createFaults(onFault);
  const boot = createBoot({ clock, now, faults, onChange: options.onBoot });
  const robot = createRobot({
    serial,
    now,
    faults,
    speedMS: options.speedMS,
    onChange: (aspect: Aspect) => topicServer.changed(aspect),
  });
  const noise = createPoseNoise();
  const hugeText = createHugeText();
  const rest = createRest({
    robot,
    faults,
    serial,
    software,
    capabilities: options.capabilities,
    // Without a time zone, as in the vendor's example.
    clockText: () => clock.wall().toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' '),
    boot: { ...boot, restart },
  });
  const topicServer = createTopicServer({
    clock,
    faults,
    poseMs: options.poseMs,
    isBooting: boot.isBooting,
    isMoving: robot.moves.isMoving,
    isAtRest: robot.isAtRest,
    supportsLists: options.capabilities.supportsEnableTopicList === true,
    message: (topic) => topicMessage(topic, { robot, faults, noise, now }),
    page: PAGE,
    hugeText,
  });

  const receive = createReception({ clock, faults, onRequest: options.onRequest });
  const answer = createRequestHandler({ clock, faults, rest, url: () => port.url(), hugeText });
  const upgrade = createUpgradeHandler({
    faults,
    topicServer,
    isBooting: boot.isBooting,
    isClosing: () => port.isClosing(),
  });
  const port = createPort({
    serve(request, response) {
      response.on('error', () => {});
      request.on('error', () => {});
      receive(request.method ?? '', request, () => void answer(request, response));
    },
    upgrade: (request, socket, head) => receive('UPGRADE', request, () => upgrade(request, socket, head)),
    onClose: () => topicServer.drop(),
  });
  const portNumber = await port.listen(options.port);
  boot.begin(options.bootMs);

  let lastTick = clock.monotonicMs();
  const ticking = clock.every(TICK_MS, tick);

  function tick(): void {
    const at = clock.monotonicMs();
    const seconds = (at - lastTick) / 1000;
    lastTick = at;
    boot.tick();
    if (boot.isBooting()) return;
    robot.step(seconds);
    topicServer.tick();
  }

  function restart(): void {
    robot.restart();
    boot.begin(options.restartMs);
    // A restart closes the connections, after its reply was sent.
    clock.after(50, () => {
      if (boot.isBooting()) topicServer.drop();
    });
  }

  function onFault(name: FaultName, on: boolean): void {
    if (name === 'cut') port.setCut(on);
    // Requests received while silent stay unanswered.
    else if (name === 'silent' && !on) port.destroyConnections();
    else if (on && droppingFaults.includes(name)) topicServer.drop();
    boot.tick();
    for (const aspect of ['wheels', 'slam', 'planning'] as const) topicServer.changed(aspect);
    options.onFault(name, on);
  }

  return {
    host: port.host,
    port: portNumber,
    faults,
    robot,
    boot,
    connections: topicServer.connections,
    /** Resolves when the last fault change is in effect; rejects when the port could not be bound again. */
    settled: port.settled,
    async close(): Promise<void> {
      ticking[Symbol.dispose]();
      await port.retire();
      topicServer.close();
      await port.close();
    },
  };
}
