// One hop of the peer: passes TCP connections on, as a Node program does it. `tls-in` and `tls-out`: over TLS on that side.
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { serveRequests } from '../worker.js';

const [to, identityFile = '', ...sides] = process.argv.slice(2);
const identity = identityFile === '' ? {} : JSON.parse(readFileSync(identityFile, 'utf8'));
const target = { host: '127.0.0.1', port: Number(to) };

const onConnection = (near) => {
  near.setNoDelay(true);
  const far = sides.includes('tls-out') ? connectTls({ ...target, ca: identity.ca }) : connect(target);
  far.setNoDelay(true);
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
  near.pipe(far);
  far.pipe(near);
};
const server = sides.includes('tls-in')
  ? createTlsServer({ key: identity.key, cert: identity.cert }, onConnection)
  : createServer(onConnection);
const listening = new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

serveRequests({ port: () => listening });
