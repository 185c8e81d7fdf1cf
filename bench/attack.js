// What the loads are made of: connections that are held, and requests without a pause, from addresses of their own.
import { connect } from 'node:net';

/** So long until a connection that was refused or cut is opened anew: an attacker does not give up. */
const AGAIN_MS = 500;
/** Between two new connections; the queue of the listener is not what is measured. */
const APART_MS = 0.4;

/**
 * Keeps `count` connections open and opens anew what was closed. `use` gets each of them once it stands and returns the
 * way to end what it does with it. Nothing is read unless `use` resumes the socket, and who reads nothing does not see
 * either that the other side has closed.
 * @returns {{counts: {opened: number, failed: number, closed: number, open: number, most: number}, stop(): void}}
 */
export function holdConnections({ target, from, count, apartMs = APART_MS, use = () => () => {} }) {
  const counts = { opened: 0, failed: 0, closed: 0, open: 0, most: 0 };
  const sockets = new Set();
  const timers = new Set();
  let over = false;
  const later = (ms, work) => {
    if (over) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!over) work();
    }, ms);
    timers.add(timer);
  };

  function open(index) {
    const socket = connect({ ...target, localAddress: addressOf(from, index) });
    sockets.add(socket);
    let stands = false;
    let end = () => {};
    socket.pause();
    socket.on('connect', () => {
      stands = true;
      counts.opened += 1;
      counts.open += 1;
      counts.most = Math.max(counts.most, counts.open);
      end = use(socket, index) ?? end;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      end();
      sockets.delete(socket);
      if (stands) {
        counts.open -= 1;
        counts.closed += 1;
      } else counts.failed += 1;
      later(AGAIN_MS, () => open(index));
    });
  }

  for (let index = 0; index < count; index += 1) later(apartMs * index, () => open(index));
  return {
    counts,
    stop() {
      over = true;
      for (const timer of timers) clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * `connections` ask one after the other, without a pause, over kept connections. `request(turn, index)` is the text
 * of a request with a Content-Length. `restMs`: milliseconds between an answer and the next request.
 * @returns {{counts: object, stop(): void}} with how many were asked and which statuses came
 */
export function floodRequests({ target, from, connections, request, restMs = 0 }) {
  const asked = { asked: 0, statuses: {} };
  let turn = 0;
  const held = holdConnections({
    target,
    from,
    count: connections,
    use(socket, index) {
      let timer;
      const ask = () => {
        asked.asked += 1;
        turn += 1;
        socket.write(request(turn, index));
      };
      let rest = 0;
      socket.on('data', (chunk) => {
        // The rest of a large answer is not a new one.
        if (rest > 0) {
          rest -= chunk.length;
          if (rest <= 0) next();
          return;
        }
        const head = chunk.toString('latin1', 0, 4_096);
        const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'none';
        asked.statuses[status] = (asked.statuses[status] ?? 0) + 1;
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        rest = head.indexOf('\r\n\r\n') + 4 + length - chunk.length;
        if (rest <= 0) next();
      });
      socket.resume();
      const next = () => {
        if (restMs === 0) ask();
        else timer = setTimeout(ask, restMs);
      };
      ask();
      return () => clearTimeout(timer);
    },
  });
  return {
    get counts() {
      return { ...held.counts, ...asked };
    },
    stop: () => held.stop(),
  };
}

/** A request as it goes over the wire. */
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
