import { expect, it } from 'vitest';
import { createRawHttp } from '../../../../src/lib/toolkit/operator/check/raw-http.ts';
import { httpAnswer, rawPeer } from '../../../chassis/peers.ts';
import { createPacedClock } from '../../../lifecycle/paced-clock.ts';
import { slowDialer } from '../../../net/slow-dialer.ts';

it('an answer that a slow SSH link delivers in parts is read to its end', async () => {
  const answer = httpAnswer('closed path', {}, '403 Forbidden');
  const clock = createPacedClock();
  await using peer = await rawPeer((socket) => {
    socket.once('data', () => {
      socket.write(answer.subarray(0, 8));
      clock.after(700, () => socket.write(answer.subarray(8)));
    });
  });
  const http = createRawHttp(slowDialer(), clock);
  const { statuses, body } = await http.send(peer.endpoint, 'GET / HTTP/1.1\r\n\r\n', new AbortController().signal);
  expect({ statuses, body }).toEqual({ statuses: [403], body: 'closed path' });
});
