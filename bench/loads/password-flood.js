import { addresses, floodRequests, requestText } from '../attack.js';

/** Wrong passwords from so many addresses that the limit of each of them is never the only one. */
export default {
  name: 'password-flood',
  title: 'continuous wrong passwords from 200 addresses',
  from: addresses(10, 200),
  /** People who know the password want to sign in meanwhile. */
  hasHonestSignIn: true,
  attack: ({ target, from, connections = 200, restMs = 0 }) =>
    floodRequests({
      target,
      from,
      connections,
      restMs,
      request: (turn) => requestText('POST', '/api/anmeldung', { body: `{"password":"wrong ${turn}"}` }),
    }),
};
