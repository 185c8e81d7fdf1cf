import { factsOf } from '../fact.ts';

export const operatorFacts = factsOf(
  { mark: 'BELEGT', basis: 'simulated', source: "specification, 'Operator server'" },
  {
    'operator.full-socket': {
      statement: 'The full operator surface listens on 5173 TCP, on all interfaces.',
      basis: 'stated',
      value: 5173,
    },
    'operator.read-only-socket': {
      statement:
        'The read-only socket listens on 5174 TCP at 127.0.0.1, not configurable; it is all that a remote tunnel can see.',
      basis: 'stated',
      value: 5174,
    },
    'operator.one-application': { statement: 'Both sockets serve the same application.', basis: 'stated' },
    'operator.route-surface': {
      statement: 'GET / (operator surface): 200 on the tablet socket, 200 on the read-only socket.',
      value: { full: 200, readOnly: 200 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-service': {
      statement: 'GET /service (technician page): 200 on the tablet socket, 200 on the read-only socket.',
      value: { full: 200, readOnly: 200 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-neighbours': {
      statement: 'GET /api/nachbarn (other robots): 200 on the tablet socket, 200 on the read-only socket.',
      value: { full: 200, readOnly: 200 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-device-info': {
      statement: 'GET /api/chassis/device/info (forwarded): 200 on the tablet socket, 200 on the read-only socket.',
      value: { full: 200, readOnly: 200 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-map-image': {
      statement:
        'GET /api/chassis/maps/<map_id>.png (floor plan image): 200 on the tablet socket, 403 on the read-only socket.',
      value: { full: 200, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-media': {
      statement: 'GET /api/medien (media library): 200 on the tablet socket, 403 on the read-only socket.',
      value: { full: 200, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-voice': {
      statement:
        'GET /api/chatbot/config (voice service, forwarded): 409 on the tablet socket, 403 on the read-only socket.',
      value: { full: 409, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis. The condition of the 409 is not shown.',
    },
    'operator.route-building': {
      statement:
        'GET /api/uiot/status (building module, forwarded): 409 on the tablet socket, 403 on the read-only socket.',
      value: { full: 409, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis. The condition of the 409 is not shown.',
    },
    'operator.route-sign-in-form': {
      statement: 'GET /anmeldung (sign-in form): 200 on the tablet socket, 403 on the read-only socket.',
      value: { full: 200, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.route-start-tour': {
      statement: 'POST /api/touren/lauf (start a tour): 400 on the tablet socket, 403 on the read-only socket.',
      value: { full: 400, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis. 400 belongs to the request that the test sent.',
    },
    'operator.route-sign-in': {
      statement: 'POST /api/anmeldung (sign in): 409 on the tablet socket, 403 on the read-only socket.',
      value: { full: 409, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis. The condition of the 409 is not shown.',
    },
    'operator.route-sign-out': {
      statement: 'DELETE /api/anmeldung (sign out): 200 on the tablet socket, 403 on the read-only socket.',
      value: { full: 200, readOnly: 403 },
      unit: 'HTTP status',
      note: 'Measured against a chassis simulator, not against a chassis.',
    },
    'operator.read-only-methods': {
      statement:
        'The read-only socket itself refuses every method other than GET and HEAD, before the application handles it.',
      basis: 'stated',
      value: ['GET', 'HEAD'],
    },
    'operator.read-only-allow-list': {
      statement:
        'The application applies an allow list of paths to the read-only socket; a new endpoint is closed until it is entered.',
      basis: 'stated',
    },
    'operator.read-only-by-socket': {
      statement: 'Which socket a request came in by is taken from the operating system, never from a header.',
      basis: 'stated',
    },
    'operator.read-only-map': {
      statement: 'On the read-only socket the map stays readable as data; the map as an image is refused.',
      basis: 'stated',
    },
    'operator.payload-shapes': {
      statement: 'Request and answer shapes of the operator routes beyond the fields named are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
    },
    'operator.route-list': {
      statement: 'The complete list of operator routes is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
    },
    'operator.sign-in': {
      statement:
        'The full socket has a sign-in (POST /api/anmeldung) and a sign-out (DELETE /api/anmeldung); a device password is entered in the form.',
      basis: 'stated',
      source: "specification, 'Authentication'",
    },
    'operator.read-only-no-sign-in': {
      statement: 'Sign-in is not possible on the read-only socket; endpoints behind sign-in answer 401 there.',
      basis: 'stated',
      value: 401,
      source: "specification, 'Authentication'",
    },
    'operator.sign-in-model': {
      statement: 'The credential model of the sign-in is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Authentication'",
    },
    'operator.session-lifetime': {
      statement: 'How long a signed-in session lasts is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Authentication'",
    },
    'operator.api-versioning': {
      statement: 'How the operator server interface is versioned is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Versioning'",
    },
  },
);
