// A process that beats for many robots, to ports of 127.0.0.1 and nowhere else.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { packBeat } from '../src/lib/fleet/datagram.ts';
import { createKey } from '../src/lib/fleet/keys.ts';
import { answerAll } from './asked.js';
import { beatOf } from './heartbeat.js';

const [keyFile] = process.argv.slice(2);
const key = createKey(Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'hex'));
const sockets = new Map();
let beats = 0;

answerAll({
  /** So many datagrams a second, evenly. What a late timer left behind is made up for in small portions only. */
  async pace({ robots, ports, perSecond, seconds }) {
    const targets = await Promise.all(ports.map(socketTo));
    const total = perSecond * seconds;
    const atOnce = Math.max(2, Math.ceil(perSecond / 250));
    const began = performance.now();
    const sends = [];
    for (let sent = 0; sent < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1000) + 1, sent + atOnce);
      for (; sent < due; sent += 1) {
        const bytes = nextBeat(robots);
        for (const socket of targets) sends.push(send(socket, bytes));
      }
      await sleep(1);
    }
    const tookMs = performance.now() - began;
    await Promise.all(sends);
    return { sent: total, tookMs };
  },

  /** As fast as it goes, of datagrams that were signed before. */
  async flood({ robots, port, seconds, most }) {
    const socket = await socketTo(port);
    const signed = Array.from({ length: most }, () => nextBeat(robots));
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

/** The robots take turns, each with a sequence of its own. */
function nextBeat(robots) {
  const beat = beatOf(beats % robots, Math.floor(beats / robots));
  beats += 1;
  return packBeat(beat, key);
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
