// mosquitto for the tests of the outbox: plain MQTT on a loopback port, with sessions that survive a restart, and a
// receiver that keeps everything that arrives.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { connect } from 'mqtt';
import { type Started, startProcess } from '../process.ts';
import { until } from '../waiting.ts';

export interface Broker extends AsyncDisposable {
  readonly port: number;
  start(): Promise<void>;
  /** Ends it in order: it writes its sessions to the disk. */
  stop(): Promise<void>;
}

export function createBroker(dir: string, port: number): Broker {
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'mosquitto.conf');
  writeFileSync(
    config,
    `listener ${port} 127.0.0.1
allow_anonymous true
user root
persistence true
persistence_location ${dir}/
max_inflight_messages 0
max_queued_messages 0
sys_interval 0
log_dest none
`,
  );
  let running: Started | null = null;
  return {
    port,
    async start() {
      const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
      running = startProcess('mosquitto', ['-c', config], { env });
      const { hasEnded, stderr } = running;
      await until(
        async () => hasEnded() || (await accepts(port)),
        (is) => is,
      );
      if (hasEnded()) throw new Error(`mosquitto ended: ${stderr()}`);
    },
    async stop() {
      await running?.[Symbol.asyncDispose]();
      running = null;
    },
    async [Symbol.asyncDispose]() {
      await running?.[Symbol.asyncDispose]();
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection(port, '127.0.0.1');
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  const isUp = await promise;
  socket.destroy();
  return isUp;
}

export interface Arrival {
  readonly topic: string;
  readonly text: string;
}

/** Subscribes to everything with a persistent session; resolves when the broker has accepted that. */
export async function startReceiver(port: number) {
  const arrivals: Arrival[] = [];
  const client = connect({
    host: '127.0.0.1',
    port,
    clientId: 'receiver',
    clean: false,
    reconnectPeriod: 20,
    connectTimeout: 2_000,
  });
  // The broker comes and goes.
  client.on('error', () => {});
  client.on('message', (topic, payload) => void arrivals.push({ topic, text: payload.toString() }));
  await new Promise<void>((resolve) => client.once('connect', () => resolve()));
  await client.subscribeAsync('#', { qos: 1 });
  return {
    arrivals,
    [Symbol.asyncDispose]: () => client.endAsync(true),
  };
}
