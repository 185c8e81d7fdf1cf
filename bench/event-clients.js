// Clients of the live events, each a connection of its own. Prints when each of them received each pose, as one line of JSON.
import { connect } from 'node:net';
import { now, STEP_M } from './moving-chassis.js';

const [port, count, seconds] = process.argv.slice(2).map(Number);
/** So many of one address, as several browsers behind one have. */
const PER_ADDRESS = 10;
const MARK = Buffer.from('"pose":{"value":{"xM":');
const LONGEST = 12;
const received = [];
let refused = 0;
let bytes = 0;
let isCounting = false;

const follow = (at) =>
  new Promise((resolve) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      localAddress: `127.0.0.${10 + Math.floor(at / PER_ADDRESS)}`,
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      refused += 1;
    });
    socket.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      resolve();
      if (!isCounting) return;
      const at = now();
      bytes += chunk.length;
      const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let from = data.indexOf(MARK); from >= 0; from = data.indexOf(MARK, from + 1)) {
        const text = data.toString('latin1', from + MARK.length, from + MARK.length + LONGEST);
        received.push([Math.round(Number.parseFloat(text) / STEP_M), at]);
      }
      // A mark may be cut; its number always arrives with the rest of an event.
      rest = data.subarray(Math.max(0, data.length - MARK.length + 1));
    });
  });

await Promise.all(Array.from({ length: count }, (_, at) => follow(at)));
await new Promise((resolve) => setTimeout(resolve, 1_000));
refused = 0;
isCounting = true;
process.stdout.write('following\n');
await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
isCounting = false;
process.stdout.write(`${JSON.stringify({ received, bytes, ended: refused })}\n`, () => process.exit(0));
