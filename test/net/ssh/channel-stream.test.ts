import { Duplex } from 'node:stream';
import type { Channel } from 'ssh2';
import { expect, it } from 'vitest';
import { channelStream } from '../../../src/lib/net/ssh/connection.ts';

const channel = () => new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }) as unknown as Channel;

it('a connection that is lost while its stream has no reader ends no process, and a later reader sees the loss', async () => {
  const lost = new AbortController();
  const stream = channelStream(channel(), lost.signal);
  const why = new Error('lost: write ECONNRESET');
  lost.abort(why);
  // An 'error' event without a listener is thrown in this turn or the next.
  await new Promise((resolve) => setImmediate(resolve));
  expect([stream.destroyed, stream.errored]).toEqual([true, why]);
});
