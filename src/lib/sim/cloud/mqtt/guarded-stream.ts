import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Guard } from './guard.ts';
import { createPacketReader, type RawPacket } from './packets.ts';

export interface GuardedStreamOptions {
  readonly guard: Guard;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** Delay of what the broker sends now. */
  readonly delayMs: () => number;
  readonly onClose: (reason: string) => void;
}

/** Of a client; larger than any packet that the limits allow. */
const MAX_PACKET_BYTES = 1024 * 1024;

/** The connection of a client as the broker sees it: only complete packets that the guard forwards. */
export function createGuardedStream(socket: TLSSocket, options: GuardedStreamOptions): Duplex {
  const { guard, clock, delayMs, onClose } = options;
  const received = createPacketReader(MAX_PACKET_BYTES);
  const sent = createPacketReader();
  /** Late packets in order; one timer for each. */
  const late: { readonly bytes: Buffer; readonly dueMs: number }[] = [];
  const timers = new Set<Disposable>();

  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => send(chunk, done),
    writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      for (const timer of timers) timer[Symbol.dispose]();
      socket.destroy();
      done(error);
    },
  });

  function close(reason: string): void {
    onClose(reason);
    stream.destroy();
  }

  /** False when the connection was closed. */
  function receive(packet: RawPacket): boolean {
    const verdict = guard.inbound(packet);
    if (typeof verdict === 'object') {
      close(verdict.close);
      return false;
    }
    if (verdict === 'forward' && !stream.push(packet.bytes)) socket.pause();
    return true;
  }

  function send(chunk: Buffer, done: (error?: Error | null) => void): void {
    const bytes = Buffer.concat((sent.read(chunk) ?? []).flatMap((packet) => guard.outbound(packet)));
    if (bytes.length === 0) {
      done();
      return;
    }
    const delay = delayMs();
    if (delay === 0 && late.length === 0) {
      socket.write(bytes, done);
      return;
    }
    const now = clock.monotonicMs();
    const dueMs = Math.max(now + delay, late.at(-1)?.dueMs ?? 0);
    late.push({ bytes, dueMs });
    const timer = clock.after(dueMs - now, () => {
      timers.delete(timer);
      const next = late.shift();
      if (next !== undefined) socket.write(next.bytes);
    });
    timers.add(timer);
    done();
  }

  socket.on('data', (chunk: Buffer) => {
    const packets = received.read(chunk);
    if (packets === null) close('malformed data');
    else packets.every(receive);
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', () => stream.destroy());
  socket.on('close', () => stream.destroy());
  return stream;
}
