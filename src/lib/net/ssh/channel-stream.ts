import { Duplex } from 'node:stream';
import type { Channel } from 'ssh2';
import { onAbort } from '../../lifecycle/index.ts';

/**
 * An SSH channel that behaves like a TCP socket: it ends when the peer ends, destroying it closes the channel, and when
 * the connection is lost it fails with that error, where the library would end it as if the data were complete.
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
  // Data received before the close must still be read.
  channel.on('close', () => {
    if (!stream.destroyed && !stream.readableEnded) stream.once('end', () => stream.destroy());
    else stream.destroy();
  });
  // Its user may not listen yet, or no more: a loss in between must not end the process.
  stream.on('error', () => {});
  channel.on('error', (error: Error) => stream.destroy(error));
  losing = onAbort(lost, () => void stream.destroy(lost.reason));
  return stream;
}
