import { Duplex } from 'node:stream';
import type { Channel } from 'ssh2';
import { onAbort } from '../../lifecycle/index.ts';

/**
 * A channel in the manner of a TCP socket: it ends when the far side ends, destroying it closes it, and when the line
 * is lost it fails with that, where the library would end it as if everything had been said.
 */
export function channelStream(channel: Channel, lost: AbortSignal): Duplex {
  let losing: Disposable | undefined;
  const stream = new Duplex({
    allowHalfOpen: false,
    read() {
      channel.resume();
    },
    write(chunk: Buffer, _encoding, callback) {
      channel.write(chunk, callback);
    },
    final(callback) {
      channel.end();
      callback();
    },
    destroy(error, callback) {
      losing?.[Symbol.dispose]();
      channel.off('data', onData);
      channel.resume();
      channel.destroy();
      callback(error);
    },
  });
  const onData = (chunk: Buffer) => {
    if (!stream.push(chunk)) channel.pause();
  };
  channel.on('data', onData);
  channel.on('end', () => {
    if (!stream.destroyed) stream.push(null);
  });
  // Only with its end read: what came before the end must not be thrown away.
  channel.on('close', () => {
    if (!stream.destroyed && !stream.readableEnded) stream.once('end', () => stream.destroy());
    else stream.destroy();
  });
  channel.on('error', (error: Error) => stream.destroy(error));
  losing = onAbort(lost, () => void stream.destroy(lost.reason));
  return stream;
}
