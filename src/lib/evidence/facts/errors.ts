import { factsFrom, notShown, simulated, stated } from '../fact.ts';

export const errorFacts = factsFrom("specification, 'Errors'", {
  'errors.403': stated(
    '403 on the read-only socket: a path that is not on the allow list, or a method other than GET and HEAD.',
    { value: 403 },
  ),
  'errors.401': stated(
    '401: an endpoint behind sign-in was requested without a session, for example through the tunnel.',
    { value: 401 },
  ),
  'errors.409': simulated(
    '409 was seen for voice service, building module and sign-in on the full socket, in the test setup.',
    'gw reads it as: not set up on this gateway. That is a project decision.',
    { value: 409 },
  ),
  'errors.409-condition': notShown('What makes the operator server answer 409 is not shown.'),
  'errors.400-tour': simulated(
    '400 was seen for POST /api/touren/lauf on the full socket with the request of the test.',
    { value: 400 },
  ),
  'errors.not-connected': stated(
    "'not connected' on the operator surface means that the chassis address is wrong or unreachable; the technician page names the address tried.",
  ),
  'errors.body': notShown('The format of error bodies is not shown.'),
});
