import { floodRequests, requestText } from '../attack.js';

const requests = [
  requestText('POST', '/api/stopp', { body: '{"reason":"a load of the benchmark"}' }),
  requestText('POST', '/api/anmeldung', { body: '{"password":"not the one"}' }),
  requestText('POST', '/api/touren/lauf', { body: '{"tour":"demo"}' }),
];

/** Every request that writes a line into the log, while nobody reads the log. */
export default {
  name: 'unread-log',
  title: 'unread log pipe, with a flood of logged requests',
  isLogRead: false,
  attack: ({ target, from, connections = 16, restMs = 0 }) =>
    floodRequests({ target, from, connections, restMs, request: (turn) => requests[turn % requests.length] }),
};
