import { floodRequests, requestText } from '../attack.js';

const requests = [
  requestText('POST', '/api/stopp', { body: '{"reason":"a load of the benchmark"}' }),
  requestText('POST', '/api/anmeldung', { body: '{"password":"not the one"}' }),
  requestText('POST', '/api/touren/lauf', { body: '{"tour":"demo"}' }),
];

/** Requests that are logged, while the log is not read. */
export default {
  name: 'unread-log',
  title: 'unread log pipe, with a flood of logged requests',
  isLogRead: false,
  attack: ({ target, from, connections = 16, restMs = 0 }) =>
    floodRequests({ target, from, connections, restMs, request: (turn) => requests[turn % requests.length] }),
};
