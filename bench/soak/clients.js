// A process with the twenty-five clients of the soak, each with its own address and random numbers.
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { floodRequests, holdConnections, requestText } from '../attack.js';
import { seededRandom } from '../figures.ts';
import { endlessLoads } from '../loads/endless-bytes.js';
import { everyRouteLoads } from '../loads/every-route.js';
import pipelinedStops from '../loads/pipelined-stops.js';
import slowStops from '../loads/slow-stops.js';
import { callOnce, signIn } from '../probe.js';
import { serveRequests } from '../worker.js';

/** Number, name and behaviour of each kind. */
const crowd = [
  [4, 'browser', browser],
  [3, 'slow reader', slowReader],
  [4, 'greedy poller', greedyPoller],
  [2, 'signed-in person', person],
  [2, 'tour starter', tourStarter],
  [2, 'uploader', uploader],
  [2, 'hoarder', hoarder],
  [1, 'wrong password', wrongPassword],
  [2, 'byte flooder', byteFlooder],
  [2, 'route reader', routeReader],
  [1, 'stop flooder', stopFlooder],
];

const over = new AbortController();
const counts = {};
let clients = [];
let isHeld = false;
const clearings = new Set();

serveRequests({
  start({ target, password, seed }) {
    const all = crowd.flatMap(([count, kind, live]) => Array.from({ length: count }, () => ({ kind, live })));
    clients = all.map(({ kind, live }, index) => {
      counts[kind] ??= { did: {}, failed: {} };
      return repeat(live, {
        target,
        password,
        from: `127.0.20.${1 + index}`,
        random: seededRandom(seed + 1_000 * (index + 1)),
        did: (what, count = 1) => add(counts[kind].did, what, count),
        failed: (what) => add(counts[kind].failed, what, 1),
      });
    });
    return { clients: clients.length };
  },
  /** Prevents clearing a stop until `goOn`, so that the answer to a stop cannot already show it cleared. */
  async hold() {
    isHeld = true;
    await Promise.all(clearings);
    return null;
  },
  goOn() {
    isHeld = false;
    return null;
  },
  read: () => counts,
  async stop() {
    over.abort();
    await Promise.all(clients);
    return counts;
  },
});

function add(to, what, count) {
  to[what] = (to[what] ?? 0) + count;
}

/** Counts a failure of a client and restarts it. */
async function repeat(live, client) {
  await pause(client.random() * 3_000);
  while (!over.signal.aborted) {
    try {
      await live(client);
    } catch (error) {
      client.failed(error.code ?? error.message);
    }
    await pause(200);
  }
}

/** Ends early, without an error, at the end of the soak. */
async function pause(ms) {
  await sleep(ms, undefined, { signal: over.signal }).catch(() => {});
}

const between = ({ random }, min, max) => min + random() * (max - min);

const pick = ({ random }, list) => list[Math.floor(random() * list.length)];

async function call(client, method, path, rest = {}) {
  const { target, from } = client;
  const answer = await callOnce({ target, from, method, path, ...rest });
  if (answer.status === null) client.failed(answer.what);
  else client.did(`${method} ${answer.status}`);
  return answer;
}

/** Loads a page with its files and reads its live events; reloads at times. */
async function browser(client) {
  for (const path of ['/', '/assets/style.css', '/assets/main.js']) await call(client, 'GET', path);
  const { target, from } = client;
  const until = performance.now() + between(client, 5_000, 40_000);
  const stream = request({ ...target, path: '/api/events', agent: false, localAddress: from });
  const ended = new Promise((resolve) => {
    stream.on('error', (error) => {
      client.failed(error.code ?? error.message);
      resolve();
    });
    stream.on('response', (response) => {
      client.did(`events ${response.statusCode}`);
      response.on('data', () => client.did('event read'));
      response.on('error', () => {});
      response.on('close', resolve);
    });
  });
  stream.end();
  await Promise.race([ended, pause(until - performance.now())]);
  stream.destroy();
}

/** Requests a large or endless answer and reads a little of it each second. */
async function slowReader(client) {
  const { target, from } = client;
  const path = pick(client, ['/api/events', '/', '/api/chassis/maps/1', '/api/chassis/maps/1.png']);
  const socket = connect({ ...target, localAddress: from });
  socket.on('error', (error) => client.failed(error.code ?? error.message));
  socket.on('connect', () => client.did('connected'));
  socket.pause();
  socket.write(requestText('GET', path).repeat(path === '/api/events' ? 1 : 20));
  const until = performance.now() + between(client, 5_000, 30_000);
  while (!socket.destroyed && performance.now() < until && !over.signal.aborted) {
    if (socket.read(512) !== null) client.did('sip');
    await pause(1_000);
  }
  socket.destroy();
}

/** Polls over four connections without a pause for a while, then rests. */
async function greedyPoller(client) {
  const { target, from } = client;
  const paths = ['/api/chassis/state', '/api/chassis/device/info', '/api/chassis/maps', '/api/health', '/service'];
  const path = pick(client, paths);
  const flood = floodRequests({ target, from, connections: 4, request: () => requestText('GET', path) });
  await pause(between(client, 500, 2_500));
  flood.stop();
  const { statuses, failed } = flood.counts;
  for (const [status, count] of Object.entries(statuses)) client.did(`GET ${status}`, count);
  if (failed > 0) client.failed('not connected');
  await pause(between(client, 4_000, 10_000));
}

/** Signs in, clears the stop, starts a tour, stops it, reads settings and records, like a technician. */
async function person(client) {
  const { target, from, password } = client;
  const cookie = await signIn(target, from, password);
  if (cookie === null) {
    client.failed('sign-in');
    await pause(between(client, 2_000, 10_000));
    return;
  }
  client.did('signed in');
  const headers = { cookie };
  for (let round = 0; round < 5 && !over.signal.aborted; round += 1) {
    await clearStop(client, headers);
    await pause(between(client, 500, 3_000));
    const tour = await call(client, 'POST', '/api/touren/lauf', { headers, body: { tour: 'demo' } });
    if (tour.status === 202) client.did('tour started');
    await pause(between(client, 2_000, 10_000));
    const stopped = await call(client, 'POST', '/api/stopp', { headers, body: { reason: 'soak: a person stops' } });
    if (stopped.status === 200) client.did('stopped');
    await call(client, 'GET', pick(client, ['/api/protokolle', '/api/einstellungen', '/api/medien']), { headers });
    await pause(between(client, 1_000, 5_000));
  }
  await clearStop(client, headers);
  await call(client, 'DELETE', '/api/anmeldung', { headers });
}

async function clearStop(client, headers) {
  while (isHeld && !over.signal.aborted) await pause(100);
  const clearing = call(client, 'DELETE', '/api/stopp', { headers });
  clearings.add(clearing);
  const { status } = await clearing;
  clearings.delete(clearing);
  if (status === 200) client.did('stop cleared');
}

/** The tablet: starts a tour whenever possible. */
async function tourStarter(client) {
  const tours = await call(client, 'GET', '/api/touren');
  if (tours.status === 200) {
    const started = await call(client, 'POST', '/api/touren/lauf', {
      body: { tour: pick(client, ['demo', 'acceptance']) },
    });
    if (started.status === 202) client.did('tour started');
  }
  await pause(between(client, 2_000, 8_000));
}

/** Incomplete uploads, and some complete ones. */
async function uploader(client) {
  const { target, from, password } = client;
  const cookie = await signIn(target, from, password);
  if (cookie === null) client.failed('sign-in');
  else {
    for (let round = 0; round < 6 && !over.signal.aborted; round += 1) {
      const isWhole = client.random() < 0.3;
      const name = `soak-${from.split('.').at(-1)}.bin`;
      const bytes = Math.floor(between(client, 100_000, isWhole ? 1_000_000 : 20_000_000));
      await upload(client, cookie, name, bytes, isWhole ? bytes : bytes * client.random());
      if (isWhole) await call(client, 'DELETE', `/api/medien/${name}`, { headers: { cookie } });
      await pause(between(client, 2_000, 8_000));
    }
  }
  await pause(between(client, 1_000, 5_000));
}

async function upload(client, cookie, name, bytes, sentBytes) {
  const { target, from } = client;
  const edge = 'soak-boundary';
  const head = `--${edge}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  const tail = `\r\n--${edge}--\r\n`;
  const sending = request({
    ...target,
    method: 'POST',
    path: '/api/medien',
    agent: false,
    localAddress: from,
    headers: {
      cookie,
      'content-type': `multipart/form-data; boundary=${edge}`,
      'content-length': head.length + bytes + tail.length,
    },
  });
  const ended = new Promise((resolve) => {
    sending.on('error', resolve);
    sending.on('response', (response) => {
      client.did(`POST ${response.statusCode}`);
      response.resume();
      response.on('error', () => {});
      response.on('close', resolve);
    });
  });
  sending.write(head);
  const piece = Buffer.alloc(64 * 1024, 1);
  for (let sent = 0; sent < sentBytes && !sending.destroyed && !over.signal.aborted; sent += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, Math.ceil(sentBytes - sent)));
    if (sending.write(part)) continue;
    const drained = Promise.withResolvers();
    sending.once('drain', drained.resolve);
    await Promise.race([drained.promise, ended, pause(2_000)]);
    sending.off('drain', drained.resolve);
  }
  if (sentBytes < bytes) {
    client.did('upload broken off');
    sending.destroy();
    return;
  }
  sending.end(tail);
  await Promise.race([ended, pause(10_000)]);
  sending.destroy();
}

/** Holds many connections without data, or with half a request. */
async function hoarder(client) {
  const { target, from } = client;
  const half = pick(client, [
    '',
    'GET / HTTP/1.1\r\nHost: 127',
    requestText('POST', '/api/stopp', { body: '{', length: 16_000 }),
  ]);
  const held = holdConnections({
    target,
    from,
    count: Math.floor(between(client, 50, 300)),
    use(socket) {
      if (half !== '') socket.write(half);
      socket.resume();
    },
  });
  await pause(between(client, 3_000, 20_000));
  held.stop();
  client.did('connections held', held.counts.most);
  await pause(between(client, 2_000, 10_000));
}

/** Sends wrong passwords and invalid requests. */
async function wrongPassword(client) {
  await call(client, 'POST', '/api/anmeldung', { body: { password: `wrong ${client.random()}` } });
  await call(client, 'POST', '/api/touren/lauf', { body: { tour: 'no such tour' } });
  await call(client, 'DELETE', '/api/stopp');
  await call(client, 'GET', `/${'x'.repeat(Math.floor(between(client, 1, 3_000)))}`);
  await pause(between(client, 500, 3_000));
}

/** Reads every route of one socket at once, then rests. */
async function routeReader(client) {
  const { target, from } = client;
  const load = pick(client, everyRouteLoads);
  const flood = load.attack({ target, from: Array.isArray(load.from) ? Array(20).fill(from) : from });
  await pause(between(client, 1_000, 6_000));
  flood.stop();
  client.did('routes read', flood.counts.requests);
  await pause(between(client, 4_000, 15_000));
}

/** Stops whose bodies never come, or many at a time; rarely, since the robot drives on only after a person has cleared them. */
async function stopFlooder(client) {
  await pause(between(client, 30_000, 60_000));
  const { target, from } = client;
  const flood = pick(client, [slowStops, pipelinedStops]).attack({ target, from, connections: 40 });
  await pause(between(client, 500, 2_000));
  flood.stop();
  client.did('stops flooded', flood.counts.most);
}

/** One of the loads that cost the parser much, over many connections; also on the read-only socket. */
async function byteFlooder(client) {
  const { target, from } = client;
  const load = pick(client, [...endlessLoads.values()]);
  const flood = load.attack({ target, from });
  await pause(between(client, 1_000, 6_000));
  flood.stop();
  client.did('connections flooded', flood.counts.most);
  await pause(between(client, 4_000, 15_000));
}
