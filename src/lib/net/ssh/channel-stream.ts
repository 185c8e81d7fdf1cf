import { Duplex } from 'node:stream';
import type { Channel } from 'ssh2';

/**
 * An SSH channel that behaves like a TCP socket: it ends when the peer ends, destroying it closes the channel, and when
 * the connection is lost it fails with that error, where the library would end it as if the data were complete.
 */
export function channelStream(channel: Channel, lost: AbortSignal): Duplex {
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
      lost.removeEventListener('abort', onLost);
      channel.off('data', onData);
      channel.resume();
      channel.destroy();
      callback(error);
    },
  });
  const onLost = () => stream.destroy(lost.reason);
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
  channel.on('error', (error: Error) => stream.destroy(error));
  lost.addEventListener('abort', onLost, { once: true });
  if (lost.aborted) onLost();
  return stream;
}
