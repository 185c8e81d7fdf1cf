import { holdConnections, requestText } from '../attack.js';

/** @source specification, 'Operator server': the read-only socket, the only one that a remote tunnel reaches */
const READ_ONLY = { host: '127.0.0.1', port: 5174 };
const pipelined = requestText('GET', '/').repeat(200);

/** Remote clients behind the tunnel that request pages and never read the answers. */
export default {
  name: 'tunnel-viewers',
  title: '64 connections to the read-only socket that pipeline pages and never read',
  from: '127.0.0.1',
  attack: ({ from, connections = 64 }) =>
    holdConnections({
      target: READ_ONLY,
      from,
      count: connections,
      use(socket) {
        const write = () => {
          while (!socket.destroyed && socket.write(pipelined));
        };
        socket.on('drain', write);
        write();
        return () => socket.off('drain', write);
      },
    }),
};
