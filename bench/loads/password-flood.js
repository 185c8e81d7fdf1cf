import { addresses, floodRequests, requestText } from '../attack.js';

/** Wrong passwords from many addresses, so that the limit per address is not the only one in effect. */
export default {
  name: 'password-flood',
  title: 'continuous wrong passwords from 200 addresses',
  from: addresses(10, 200),
  /** Measures sign-ins with the right password meanwhile. */
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
