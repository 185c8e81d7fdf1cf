// The server behind the tunnel: 127.0.0.1:PORT. The first line of a connection says what it does with the rest of it.
import { createServer } from 'node:net';
import { serveRequests } from '../worker.js';

const [port] = process.argv.slice(2).map(Number);
const block = Buffer.alloc(64 * 1024, 'x');

const uses = {
  /** Sends so many bytes, or without end for 0, and closes. */
  send(socket, bytes) {
    let left = bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
    const write = () => {
      while (left > 0 && !socket.destroyed) {
        const part = left >= block.length ? block : block.subarray(0, left);
        left -= part.length;
        if (!socket.write(part)) return;
      }
      if (left === 0) socket.end();
    };
    socket.on('drain', write);
    write();
  },
  /** Receives so many bytes, then answers with one byte. */
  take(socket, bytes) {
    let left = bytes;
    socket.on('data', ({ length }) => {
      left -= length;
      if (left === 0) socket.end('.');
    });
  },
  /** Answers each request of so many bytes with 2 KB. */
  answer(socket, bytes) {
    const answer = block.subarray(0, 2_048);
    let received = 0;
    socket.on('data', ({ length }) => {
      received += length;
      for (; received >= bytes; received -= bytes) socket.write(answer);
    });
  },
  /** Reads nothing. */
  stall(socket) {
    socket.pause();
  },
};

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', (line) => {
    const [use, bytes] = line.toString().trim().split(' ');
    uses[use](socket, Number(bytes));
  });
});
const listening = new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
listening.catch(() => {});

serveRequests({
  async listen() {
    await listening;
    return null;
  },
});
