// Clients at the near end of a way.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const block = Buffer.alloc(64 * 1024, 'y');
const LIMIT_MS = 120_000;

/** A connection whose remote host does `use` with `bytes`. */
export async function open(port, use, bytes = 0) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('nothing received')));
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.write(`${use} ${bytes}\n`);
  return socket;
}

/** Seconds until `bytes` were received; throws when it ends with another number. */
export async function download(port, bytes) {
  const began = performance.now();
  const socket = await open(port, 'send', bytes);
  let received = 0;
  socket.on('data', ({ length }) => (received += length));
  await ended(socket);
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes received`);
  return (performance.now() - began) / 1_000;
}

/** Seconds until the remote host reports that it has received `bytes`. */
export async function upload(port, bytes) {
  const socket = await open(port, 'take', bytes);
  // The first line must not arrive together with data.
  await sleep(200);
  const began = performance.now();
  let left = bytes;
  const write = () => {
    while (left > 0) {
      const part = left >= block.length ? block : block.subarray(0, left);
      left -= part.length;
      if (!socket.write(part)) return;
    }
  };
  socket.on('drain', write);
  write();
  const answer = new Promise((resolve) => socket.once('data', resolve));
  await Promise.all([answer, ended(socket)]);
  return (performance.now() - began) / 1_000;
}

/** Bytes that each of `count` concurrent downloads receives within `ms`, from when all of them have received some. */
export async function shares(port, count, ms) {
  const sockets = await Promise.all(Array.from({ length: count }, () => open(port, 'send')));
  const received = sockets.map(() => 0);
  await Promise.all(
    sockets.map((socket, index) => {
      socket.on('data', ({ length }) => (received[index] += length));
      return new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
    }),
  );
  const before = [...received];
  await sleep(ms);
  const result = received.map((bytes, index) => bytes - before[index]);
  const left = sockets.filter((socket) => !socket.destroyed).length;
  if (left !== count) throw new Error(`${count - left} of ${count} connections ended meanwhile`);
  for (const socket of sockets) socket.on('error', () => {}).destroy();
  return result;
}

/** One open connection with requests of `bytes` and their answers, one at a time; `next` returns the milliseconds of one. */
export async function requests(port, bytes) {
  const socket = await open(port, 'answer', bytes);
  await sleep(200);
  const request = block.subarray(0, bytes);
  return {
    next() {
      const { promise, resolve } = Promise.withResolvers();
      const began = performance.now();
      let received = 0;
      const read = ({ length }) => {
        received += length;
        if (received < 2_048) return;
        socket.off('data', read);
        resolve(performance.now() - began);
      };
      socket.on('data', read);
      socket.write(request);
      return promise;
    },
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/**
 * Keeps `count` connections open for `ms` that read nothing (`use` send) or whose remote host reads nothing (`use` stall, to
 * which they send without end). Those that are reset are opened again. Returns how often.
 */
export async function stall(port, use, count, ms) {
  const sockets = new Set();
  let isOver = false;
  let reopened = 0;
  const one = async () => {
    const socket = await open(port, use).catch(() => null);
    if (socket === null || isOver) return socket?.destroy();
    sockets.add(socket);
    if (use === 'stall') {
      const write = () => {
        while (!socket.destroyed && socket.write(block));
      };
      await sleep(200);
      socket.on('drain', write);
      write();
    }
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      if (isOver) return;
      reopened += 1;
      void one();
    });
  };
  await Promise.all(Array.from({ length: count }, one));
  await sleep(ms);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return reopened;
}

async function ended(socket) {
  await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
}
