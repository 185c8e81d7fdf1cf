// Building blocks of the loads: held connections, and requests without a pause, from given addresses.
import { connect } from 'node:net';

/** Delay before a refused or closed connection is opened again. */
const RECONNECT_MS = 500;
/** Interval between new connections, so that the queue of the listener does not overflow. */
const CONNECT_INTERVAL_MS = 0.4;

/**
 * Keeps `count` connections open and reopens closed ones. `use` is called with each established connection and returns
 * its cleanup. The socket is paused unless `use` resumes it; a paused socket does not notice that the peer has closed.
 * @returns {{counts: {opened: number, failed: number, closed: number, open: number, most: number}, stop(): void}}
 */
export function holdConnections({ target, from, count, intervalMs = CONNECT_INTERVAL_MS, use = () => () => {} }) {
  const counts = { opened: 0, failed: 0, closed: 0, open: 0, most: 0 };
  const sockets = new Set();
  const timers = new Set();
  let isStopped = false;
  const later = (ms, work) => {
    if (isStopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!isStopped) work();
    }, ms);
    timers.add(timer);
  };

  function open(index) {
    const socket = connect({ ...target, localAddress: addressOf(from, index) });
    sockets.add(socket);
    let isConnected = false;
    let end = () => {};
    socket.pause();
    socket.on('connect', () => {
      isConnected = true;
      counts.opened += 1;
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
      end = use(socket, index) ?? end;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      end();
      sockets.delete(socket);
      if (isConnected) {
        counts.open -= 1;
        counts.closed += 1;
      } else counts.failed += 1;
      later(RECONNECT_MS, () => open(index));
    });
  }

  for (let index = 0; index < count; index += 1) later(intervalMs * index, () => open(index));
  return {
    counts,
    stop() {
      isStopped = true;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Sends requests one after the other on each of `connections` kept connections. `request(turn, index)` is the text of a
 * request with a Content-Length. `restMs`: milliseconds between an answer and the next request. A live stream, which has no
 * end, is closed with its first bytes.
 * @returns {{counts: object, stop(): void}} with the number of requests and the statuses
 */
export function floodRequests({ target, from, connections, request, restMs = 0 }) {
  const sent = { requests: 0, statuses: {} };
  let turn = 0;
  const held = holdConnections({
    target,
    from,
    count: connections,
    use(socket, index) {
      let timer;
      const send = () => {
        sent.requests += 1;
        turn += 1;
        socket.write(request(turn, index));
      };
      let rest = 0;
      socket.on('data', (chunk) => {
        // The rest of a large answer is not a new answer.
        if (rest > 0) {
          rest -= chunk.length;
          if (rest <= 0) next();
          return;
        }
        const head = chunk.toString('latin1', 0, 4_096);
        const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'none';
        sent.statuses[status] = (sent.statuses[status] ?? 0) + 1;
        if (/\r\ncontent-type: text\/event-stream/i.test(head)) {
          socket.destroy();
          return;
        }
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        rest = head.indexOf('\r\n\r\n') + 4 + length - chunk.length;
        if (rest <= 0) next();
      });
      socket.resume();
      const next = () => {
        if (restMs === 0) send();
        else timer = setTimeout(send, restMs);
      };
      send();
      return () => clearTimeout(timer);
    },
  });
  return {
    get counts() {
      return { ...held.counts, ...sent };
    },
    stop: () => held.stop(),
  };
}

/** The text of an HTTP request. */
export function requestText(method, path, { body, type = 'application/json', length = body?.length ?? 0 } = {}) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1'];
  if (method !== 'GET') lines.push(`Content-Type: ${type}`, `Content-Length: ${length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** One address of 127/8, or the next of several. */
function addressOf(from, index) {
  return Array.isArray(from) ? from[index % from.length] : from;
}

/** `count` addresses of 127/8 in the block `net` (third byte) and those after it. */
export function addresses(net, count) {
  return Array.from({ length: count }, (_, index) => `127.0.${net + Math.floor(index / 250)}.${1 + (index % 250)}`);
}
