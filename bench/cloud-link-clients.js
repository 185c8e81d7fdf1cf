// A process with many connections to one broker: cloud links of gw, or plain clients of the MQTT library.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'mqtt';
import { createCloudLink } from '../src/lib/cloud/link/link.ts';
import { silentLog, systemClock } from '../src/lib/lifecycle/index.ts';
import { directDialer } from '../src/lib/net/index.ts';
import { serveRequests } from './worker.js';

const [kind, identitiesFile, stateDir, port, closedPort] = process.argv.slice(2);
const identities = JSON.parse(readFileSync(identitiesFile, 'utf8'));
const filtersOf = (serial) => Array.from({ length: 12 }, (_, index) => `gw/${serial}/t${index}`);
/** Whether each client is connected with all its subscriptions. */
const clients = identities.map(kind === 'links' ? startLink : startPlain);

function startLink(identity) {
  const client = { isReady: false };
  const link = createCloudLink({
    cloud: {
      region: 'eu-central-1',
      mqtt: { host: '127.0.0.1', port: Number(port), fallbackPort: Number(closedPort), alpn: 'x-bench-mqtt-ca' },
    },
    readIdentity: async () => identity,
    dialer: directDialer,
    clock: systemClock,
    log: silentLog,
    stateDir: `${stateDir}/${identity.serial}`,
    filters: filtersOf(identity.serial),
    will: { topic: `gw/${identity.serial}/presence`, payload: Buffer.from('{}') },
    onMessage: () => {},
  });
  link.subscribe((connection) => {
    client.isReady = connection !== null;
  });
  void link.run(new AbortController().signal);
  return client;
}

function startPlain({ serial, keyPem, certificatePem, caPem }) {
  const client = { isReady: false };
  const plain = connect({
    protocol: 'mqtts',
    host: '127.0.0.1',
    port: Number(port),
    key: keyPem,
    cert: certificatePem,
    ca: caPem,
    clientId: serial,
    clean: false,
    subscribeBatchSize: 8,
    resubscribe: false,
  });
  plain.on('error', () => {});
  plain.on('close', () => {
    client.isReady = false;
  });
  plain.on('connect', () => {
    plain.subscribe(filtersOf(serial), { qos: 1 }, (error) => {
      client.isReady = !error && plain.connected;
    });
  });
  return client;
}

const readyCount = () => clients.filter(({ isReady }) => isReady).length;

serveRequests({
  /** Waits until all clients are ready. */
  async settle({ limitMs }) {
    const began = performance.now();
    while (readyCount() < clients.length && performance.now() - began < limitMs) await sleep(20);
    return { ready: readyCount() };
  },
  async untilLost({ limitMs }) {
    const began = performance.now();
    while (readyCount() > 0 && performance.now() - began < limitMs) await sleep(20);
    return readyCount();
  },
});
