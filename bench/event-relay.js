// The peer of the benchmark of live events: a bare Node server that sends as many bytes to each client for every pose.
import { createServer } from 'node:http';
import { WebSocket } from 'ws';

const [chassisPort, bytes] = process.argv.slice(2).map(Number);
const clients = new Set();
const chassis = new WebSocket(`ws://127.0.0.1:${chassisPort}/ws/v2/topics`);
chassis.on('open', () => chassis.send('{"enable_topic":"/tracked_pose"}'));
chassis.on('message', (data) => {
  const message = JSON.parse(data.toString());
  if (message.topic !== '/tracked_pose') return;
  const head = `event: pose\ndata: {"pose":{"value":{"xM":${message.pos[0]}},"rest":"`;
  const event = Buffer.from(`${head.padEnd(bytes - 4, '.')}"}\n\n`);
  for (const client of clients) client.write(event);
});
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(':\n\n');
  clients.add(response);
  response.on('close', () => clients.delete(response));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`));
