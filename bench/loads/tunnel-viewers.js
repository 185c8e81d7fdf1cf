import { holdConnections, requestText } from '../attack.js';

/** @source specification, 'Operator server': the read-only socket, all that a remote tunnel can see */
const READ_ONLY = { host: '127.0.0.1', port: 5174 };
const pipelined = requestText('GET', '/').repeat(200);

/** Those who look at the gateway from afar, through the tunnel, and read nothing of what they ask for. */
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
