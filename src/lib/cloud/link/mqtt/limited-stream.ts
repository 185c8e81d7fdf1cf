import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/**
 * The byte stream of the MQTT client over a TLS socket: received bytes pass `accept` first. An error that it throws goes to
 * `onRefused` behind what came before it in the same chunk, which may be a stop, and nothing more is passed on.
 */
export function createLimitedStream(
  socket: TLSSocket,
  accept: (chunk: Uint8Array) => Iterable<Uint8Array>,
  onRefused: (error: unknown) => void,
): Duplex {
  let isRefused = false;
  const stream = new Duplex({
    read() {
      socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      socket.write(chunk, done);
    },
    // The client writes a packet in several pieces.
    writev(chunks, done) {
      socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done);
    },
    final(done) {
      socket.end(done);
    },
    // Closed after the socket, whose error says why.
    destroy(error, done) {
      if (socket.closed) done(error);
      else socket.once('close', () => done(error));
      socket.destroy();
    },
  });
  socket.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    try {
      for (const piece of accept(chunk)) if (!stream.push(piece)) socket.pause();
    } catch (error) {
      isRefused = true;
      onRefused(error);
    }
  });
  socket.once('end', () => stream.push(null));
  socket.once('close', () => stream.destroy());
  return stream;
}
