import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseConnectionQueues, readConnectionQueues } from '../../../src/lib/net/probe/index.ts';
import { listening } from '../../listening.ts';
import { until } from '../../waiting.ts';

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

describe('the queues of open connections', () => {
  it('are those of connections in state ESTABLISHED, with both ends', () => {
    const text = `${head}   0: 020200C0:9C40 050200C0:15B3 01 00011AD0:0000000A 01:00000014 00000000     0        0 1 2
   1: 0100007F:1436 00000000:0000 0A 00000000:00000005 00:00000000 00000000     0        0 1 1
   2: 0100007F:1436 0100007F:D4C2 06 00000000:00000000 03:00000000 00000000     0        0 0 3
`;
    expect(parseConnectionQueues(text)).toEqual([
      {
        local: { address: '192.0.2.2', port: 40_000 },
        remote: { address: '192.0.2.5', port: 5_555 },
        sendQueueBytes: 72_400,
        receiveQueueBytes: 10,
      },
    ]);
  });

  it.runIf(process.platform === 'linux')('of this machine show bytes that a peer has not read yet', async () => {
    const server = createServer({ pauseOnConnect: true });
    await using running = await listening(server);
    const { port } = running;
    const socket = connect(port, '127.0.0.1');
    try {
      const [[near]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
      socket.write('seven..');
      const held = async () =>
        (await readConnectionQueues()).find(
          ({ local, remote }) => local.port === port && remote.port === socket.localPort,
        );
      const seen = await until(held, (queues) => queues?.receiveQueueBytes === 7);
      expect(seen?.local).toEqual({ address: '127.0.0.1', port });
      near.destroy();
    } finally {
      socket.destroy();
    }
  });

  it('are empty without the kernel tables', async () => {
    expect(await readConnectionQueues(['/proc/none'])).toEqual([]);
  });
});
