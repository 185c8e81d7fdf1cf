// A proxy between gateway and simulated chassis that forwards until the load switches it to hostile answers.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import { connect } from 'node:net';
import { serveRequests } from './worker.js';

const [name, chassisPort] = process.argv.slice(2);
const {
  default: { chassis },
} = await import(`./loads/${name}.js`);
const upstream = { host: '127.0.0.1', port: Number(chassisPort) };
const streams = new Set();
const counts = { maps: 0, streams: 0, bytes: 0 };
let isHostile = false;
let map;

const server = createServer((request, response) => {
  if (isHostile && chassis.map && /^\/maps\/[^/.]+$/.test(request.url)) {
    counts.maps += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': map.length });
    response.end(map);
    return;
  }
  const passed = ask({ ...upstream, method: request.method, path: request.url, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});

server.on('upgrade', (request, socket, head) => {
  streams.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => streams.delete(socket));
  if (isHostile && chassis.frames) {
    counts.streams += 1;
    flood(request, socket);
    return;
  }
  const chassisSocket = connect(upstream);
  chassisSocket.on('error', () => socket.destroy());
  chassisSocket.on('close', () => socket.destroy());
  socket.on('close', () => chassisSocket.destroy());
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let i = 0; i < request.rawHeaders.length; i += 2)
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  chassisSocket.write(`${lines.join('\r\n')}\r\n\r\n`);
  chassisSocket.write(head);
  chassisSocket.pipe(socket);
  socket.pipe(chassisSocket);
});

/** Frames one after the other, as fast as the connection accepts them. */
function flood(request, socket) {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write(`${head.join('\r\n')}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  socket.resume();
  const frames = chassis.frames();
  const write = () => {
    let more = true;
    while (more && isHostile && !socket.destroyed) {
      more = socket.write(frames);
      counts.bytes += frames.length;
    }
  };
  socket.on('drain', write);
  write();
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');

serveRequests({
  where: () => ({ port: server.address().port }),
  attack() {
    map = chassis.map?.();
    isHostile = true;
    // The gateway reconnects and then receives the hostile frames.
    if (chassis.frames) for (const socket of streams) socket.destroy();
    return null;
  },
  rest() {
    isHostile = false;
    for (const socket of streams) socket.destroy();
    return counts;
  },
});
