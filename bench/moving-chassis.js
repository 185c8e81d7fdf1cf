// A proxy between gateway and simulated chassis that replaces its poses: ten a second, each with a number of its own, so
// that a client recognises the message that an event came from.
import { request as ask, createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

const EVERY_MS = 100;
/** A tenth of a millimetre, so that the robot hardly moves. */
export const STEP_M = 1e-4;

/**
 * `stepM`: from one pose to the next.
 * @returns {Promise<{port: number, sentAt: Map<number, number>} & AsyncDisposable>} times by the clock of all processes
 */
export async function startMovingChassis(chassisPort, { stepM = STEP_M } = {}) {
  const upstream = { host: '127.0.0.1', port: chassisPort };
  const sentAt = new Map();
  const followers = new Set();
  let sent = 0;
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const passed = ask({ ...upstream, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (client, request) => {
    const chassis = new WebSocket(`ws://127.0.0.1:${chassisPort}${request.url}`);
    const early = [];
    client.on('message', (data, isBinary) => {
      if (chassis.readyState === WebSocket.OPEN) chassis.send(data, { binary: isBinary });
      else early.push(data);
    });
    chassis.on('open', () => {
      for (const data of early) chassis.send(data, { binary: false });
      followers.add(client);
    });
    chassis.on('message', (data, isBinary) => {
      if (!data.includes('"/tracked_pose"') || data.includes('enabled_topics')) client.send(data, { binary: isBinary });
    });
    const end = () => {
      followers.delete(client);
      client.terminate();
      chassis.terminate();
    };
    for (const one of [client, chassis]) one.on('close', end).on('error', end);
  });
  const publishing = setInterval(() => {
    sent += 1;
    const message = JSON.stringify({ topic: '/tracked_pose', pos: [Number((sent * stepM).toFixed(4)), 0], ori: 0 });
    sentAt.set(sent, now());
    for (const client of followers) client.send(message);
  }, EVERY_MS);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    sentAt,
    async [Symbol.asyncDispose]() {
      clearInterval(publishing);
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Milliseconds of the monotonic clock, which all processes of a machine share (Linux). */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}
