import { connect, createServer } from 'node:net';
import { fakeService } from '../tunnel/proxy/world.ts';

/** The tunnel service of a test on the address of this side of a cable: node tunnel-service-child.ts ADDRESS PORT */
const [, , address = '', port = ''] = process.argv;
const service = await fakeService({ names: [address] });
createServer((here) => {
  const there = connect(service.port, '127.0.0.1');
  for (const socket of [here, there]) socket.on('error', () => {});
  here.pipe(there).pipe(here);
}).listen(Number(port), address, () => console.log(JSON.stringify({ caFile: service.caFile })));
