import { factsFrom, notShown, simulated, stated } from '../fact.ts';

const unknownCondition = 'The condition of the 409 is not shown.';

/** One row of the table of routes, with the HTTP statuses of the two sockets. */
function route(request: string, full: number, readOnly: number, note = '') {
  return simulated(
    `${request}: ${full} on the tablet socket, ${readOnly} on the read-only socket.`,
    `Measured against a chassis simulator, not against a chassis. ${note}`.trimEnd(),
    { value: { full, readOnly }, unit: 'HTTP status' },
  );
}

export const operatorFacts = [
  ...factsFrom("specification, 'Operator server'", {
    'operator.full-socket': stated('The full operator surface listens on 5173 TCP, on all interfaces.', {
      value: 5173,
    }),
    'operator.read-only-socket': stated(
      'The read-only socket listens on 5174 TCP at 127.0.0.1, not configurable; it is all that a remote tunnel can see.',
      { value: 5174 },
    ),
    'operator.one-application': stated('Both sockets serve the same application.'),
    'operator.route-surface': route('GET / (operator surface)', 200, 200),
    'operator.route-service': route('GET /service (technician page)', 200, 200),
    'operator.route-neighbours': route('GET /api/nachbarn (other robots)', 200, 200),
    'operator.route-device-info': route('GET /api/chassis/device/info (forwarded)', 200, 200),
    'operator.route-map-image': route('GET /api/chassis/maps/<map_id>.png (floor plan image)', 200, 403),
    'operator.route-media': route('GET /api/medien (media library)', 200, 403),
    'operator.route-voice': route('GET /api/chatbot/config (voice service, forwarded)', 409, 403, unknownCondition),
    'operator.route-building': route('GET /api/uiot/status (building module, forwarded)', 409, 403, unknownCondition),
    'operator.route-sign-in-form': route('GET /anmeldung (sign-in form)', 200, 403),
    'operator.route-start-tour': route(
      'POST /api/touren/lauf (start a tour)',
      400,
      403,
      '400 belongs to the request that the test sent.',
    ),
    'operator.route-sign-in': route('POST /api/anmeldung (sign in)', 409, 403, unknownCondition),
    'operator.route-sign-out': route('DELETE /api/anmeldung (sign out)', 200, 403),
    'operator.read-only-methods': stated(
      'The read-only socket itself refuses every method other than GET and HEAD, before the application handles it.',
      { value: ['GET', 'HEAD'] },
    ),
    'operator.read-only-allow-list': stated(
      'The application applies an allow list of paths to the read-only socket; a new endpoint is closed until it is entered.',
    ),
    'operator.read-only-by-socket': stated(
      'Which socket a request came in by is taken from the operating system, never from a header.',
    ),
    'operator.read-only-map': stated(
      'On the read-only socket the map stays readable as data; the map as an image is refused.',
    ),
    'operator.payload-shapes': notShown(
      'Request and answer shapes of the operator routes beyond the fields named are not shown.',
    ),
    'operator.route-list': notShown('The complete list of operator routes is not shown.'),
  }),
  ...factsFrom("specification, 'Authentication'", {
    'operator.sign-in': stated(
      'The full socket has a sign-in (POST /api/anmeldung) and a sign-out (DELETE /api/anmeldung); a device password is entered in the form.',
    ),
    'operator.read-only-no-sign-in': stated(
      'Sign-in is not possible on the read-only socket; endpoints behind sign-in answer 401 there.',
      { value: 401 },
    ),
    'operator.sign-in-model': notShown('The credential model of the sign-in is not shown.'),
    'operator.session-lifetime': notShown('How long a signed-in session lasts is not shown.'),
    'operator.api-versioning': notShown('How the operator server interface is versioned is not shown.', {
      source: "specification, 'Versioning'",
    }),
  }),
];
