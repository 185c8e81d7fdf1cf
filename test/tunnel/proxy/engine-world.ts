import type { Socket } from 'node:net';
import { type ProxyLimits, proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { createEngine } from '../../../src/lib/tunnel/proxy/engine.ts';
import type { ProxyCounts } from '../../../src/lib/tunnel/proxy/target-connections.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { createFrameReader } from '../../../src/lib/tunnel/wire/frames.ts';
import type { TunnelMessage } from '../../../src/lib/tunnel/wire.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { message } from '../wire/messages.ts';
import { type Sent, target, until } from './world.ts';

/** An engine without a WebSocket, after SERVICE_IDS. */
export function engineWorld(
  connect: () => Socket,
  about: {
    readonly services?: readonly string[];
    readonly limits?: Partial<ProxyLimits>;
    readonly isReady?: boolean;
  } = {},
) {
  const { services = ['web'], isReady = true } = about;
  const sent: TunnelMessage[] = [];
  const notes: string[] = [];
  const counts: ProxyCounts = { open: 0, connections: 0, bytesIn: 0, bytesOut: 0 };
  const clock = createFakeClock();
  const reader = createFrameReader((each) => sent.push(each));
  const engine = createEngine({
    services,
    wire: {
      send: (each) => reader.push(encodeFrame(each)),
      unsentBytes: (): number => world.unsent,
      setHeld: () => {},
    },
    connect,
    limits: { ...proxyLimits, ...about.limits },
    clock,
    counts,
    onNote: (text) => notes.push(text),
  });
  const world = {
    engine,
    clock,
    sent,
    counts,
    notes,
    /** What the WebSocket has not sent, as reported to the engine. */
    unsent: 0,
    receive(...messages: Sent[]) {
      for (const each of messages) {
        const end = engine.receive(message(each));
        if (end !== null) throw new Error(end.detail);
      }
    },
    /** Sent messages as short words: `connection-reset web/1/2`. */
    words: () =>
      sent
        .filter(({ type }) => type !== 'data')
        .map(({ type, serviceId, streamId, connectionId }) => `${type} ${serviceId}/${streamId}/${connectionId}`),
    idle: () => until('no open sockets', () => counts.open === 0),
    async [Symbol.asyncDispose]() {
      await engine.destroy();
    },
  };
  if (isReady) world.receive({ type: 'service-ids', availableServiceIds: services });
  return world;
}

/** With a target that sends back what it gets. */
export async function echoWorld(about: Parameters<typeof engineWorld>[1] = {}) {
  const echo = await target();
  const world = engineWorld(echo.connect, about);
  const endWorld = world[Symbol.asyncDispose].bind(world);
  const end = async () => {
    await endWorld();
    await echo[Symbol.asyncDispose]();
  };
  return Object.assign(world, { sockets: echo.sockets, [Symbol.asyncDispose]: end });
}
