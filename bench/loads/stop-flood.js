import { floodRequests, requestText } from '../attack.js';

const requests = [
  requestText('POST', '/api/stopp', { body: `{"reason":"${'x'.repeat(200)}"}` }),
  requestText('POST', '/api/anmeldung', { body: '{"password":""}' }),
];

/** Half of the connections send stops without a pause, the others malformed sign-ins; without a session. */
export default {
  name: 'stop-flood',
  title: 'continuous stops and malformed sign-ins from one address',
  attack: ({ target, from, connections = 32, restMs = 0 }) =>
    floodRequests({ target, from, connections, restMs, request: (_turn, index) => requests[index % requests.length] }),
};
