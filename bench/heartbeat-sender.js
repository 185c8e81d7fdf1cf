// A process that sends heartbeats for many robots, to ports of 127.0.0.1 only.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeHeartbeat } from '../src/lib/fleet/datagram.ts';
import { createKey } from '../src/lib/fleet/keys.ts';
import { heartbeatOf } from './heartbeat.js';
import { serveRequests } from './worker.js';

const [keyFile] = process.argv.slice(2);
const key = createKey(Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'hex'));
const sockets = new Map();
let sentHeartbeats = 0;

serveRequests({
  /** A constant rate. After a late timer it catches up in small bursts. */
  async pace({ robots, ports, perSecond, seconds }) {
    const targets = await Promise.all(ports.map(socketTo));
    const total = perSecond * seconds;
    const maxBurst = Math.max(2, Math.ceil(perSecond / 250));
    const began = performance.now();
    const sends = [];
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1000) + 1, sent + maxBurst);
      for (; sent < due; sent += 1) {
        const bytes = nextHeartbeat(robots);
        for (const socket of targets) sends.push(send(socket, bytes));
      }
      await sleep(1);
    }
    const tookMs = performance.now() - began;
    await Promise.all(sends);
    return { sent: total, tookMs };
  },

  /** As fast as possible, with datagrams signed in advance. */
  async flood({ robots, port, seconds, most }) {
    const socket = await socketTo(port);
    const signed = Array.from({ length: most }, () => nextHeartbeat(robots));
    const began = performance.now();
    let sent = 0;
    while (sent < most && performance.now() - began < seconds * 1000) {
      const end = Math.min(most, sent + 64);
      const sends = [];
      for (; sent < end; sent += 1) sends.push(send(socket, signed[sent]));
      await Promise.all(sends);
    }
    return { sent, tookMs: performance.now() - began };
  },
});

/** The next heartbeat, of the robots in rotation, each with its own sequence. */
function nextHeartbeat(robots) {
  const heartbeat = heartbeatOf(sentHeartbeats % robots, Math.floor(sentHeartbeats / robots));
  sentHeartbeats += 1;
  return encodeHeartbeat(heartbeat, key);
}

async function socketTo(port) {
  const open = sockets.get(port);
  if (open !== undefined) return open;
  const socket = createSocket('udp4');
  await new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.connect(port, '127.0.0.1', resolve);
  });
  sockets.set(port, socket);
  return socket;
}

function send(socket, bytes) {
  return new Promise((resolve, reject) => {
    socket.send(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
