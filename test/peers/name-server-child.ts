import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer, reachEndpoint, resolveHost } from '../../src/lib/net/index.ts';
import { createNameCache } from '../../src/lib/net/path/index.ts';
import { lookUpName } from '../../src/lib/toolkit/network/check/look-up-name.ts';

/**
 * A name server on 127.0.0.1:53 whose names decide what it does, and what the lookups of this machine find. The timeouts
 * are detectors of hangs only.
 */
const A = 1;
const AAAA = 28;
const NXDOMAIN = 3;
const SERVFAIL = 2;
const V4 = Buffer.from([127, 0, 0, 1]);
const V6 = Buffer.from([...new Array(15).fill(0), 1]);

interface Answer {
  readonly code?: number;
  readonly address?: Buffer;
}

const seen = new Set<string>();

function answerOf(label: string, type: number): Answer | null {
  const v4: Answer = type === A ? { address: V4 } : {};
  switch (label) {
    case 'plain':
      return v4;
    case 'v6only':
      return type === AAAA ? { address: V6 } : {};
    case 'dropaaaa':
      return type === AAAA ? null : v4;
    case 'servfailaaaa':
      return type === AAAA ? { code: SERVFAIL } : v4;
    case 'nxaaaa':
      return type === AAAA ? { code: NXDOMAIN } : v4;
    case 'firstlost': {
      const isFirst = !seen.has(`${type}`);
      seen.add(`${type}`);
      return isFirst ? null : v4;
    }
    default:
      return { code: NXDOMAIN };
  }
}

const server = createSocket('udp4');
server.on('message', (query, peer) => {
  let end = 12;
  while ((query[end] ?? 0) !== 0) end += 1 + (query[end] ?? 0);
  const label = query
    .subarray(13, 13 + (query[12] ?? 0))
    .toString()
    .toLowerCase();
  const type = query.readUInt16BE(end + 1);
  const answer = answerOf(label, type);
  if (answer === null) return;
  const { code = 0, address } = answer;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(address === undefined ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  const record =
    address === undefined ? [] : [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 30, 0, address.length]), address];
  server.send(Buffer.concat([header, query.subarray(12, end + 5), ...record]), peer.port, peer.address);
});
server.bind(53, '127.0.0.1');
await once(server, 'listening');
const listener = createServer((socket) => socket.destroy()).listen(0, '::');
await once(listener, 'listening');
const { port } = listener.address() as { port: number };

const found: Record<string, object> = {};
for (const label of ['dropaaaa', 'plain', 'servfailaaaa', 'nxaaaa', 'v6only', 'unknown', 'firstlost']) {
  const host = `${label}.test`;
  const checked = createNameCache({ lookup: lookUpName, clock: systemClock }).resolve(host, 60_000);
  if (label === 'firstlost') {
    found[host] = { name: {}, dial: null, check: await checked };
    continue;
  }
  const name = await resolveHost(host, { timeoutMs: 60_000 });
  const dial = label === 'unknown' ? null : await reachEndpoint(directDialer, { host, port }, { timeoutMs: 60_000 });
  found[host] = { name, dial, check: await checked };
}
await new Promise<void>((resolve) => process.stdout.write(`${JSON.stringify(found)}\n`, () => resolve()));
process.exit();
