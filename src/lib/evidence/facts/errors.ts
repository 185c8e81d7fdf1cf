import { factsOf } from '../fact.ts';

export const errorFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Errors'" },
  {
    'errors.403': {
      statement:
        '403 on the read-only socket: a path that is not on the allow list, or a method other than GET and HEAD.',
      value: 403,
    },
    'errors.401': {
      statement: '401: an endpoint behind sign-in was requested without a session, for example through the tunnel.',
      value: 401,
    },
    'errors.409': {
      statement: '409 was seen for voice service, building module and sign-in on the full socket, in the test setup.',
      basis: 'simulated',
      value: 409,
      note: 'gw reads it as: not set up on this gateway. That is a project decision.',
    },
    'errors.409-condition': {
      statement: 'What makes the operator server answer 409 is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
    },
    'errors.400-tour': {
      statement: '400 was seen for POST /api/touren/lauf on the full socket with the request of the test.',
      basis: 'simulated',
      value: 400,
    },
    'errors.not-connected': {
      statement:
        "'not connected' on the operator surface means that the chassis address is wrong or unreachable; the technician page names the address tried.",
    },
    'errors.body': { statement: 'The format of error bodies is not shown.', mark: 'OFFEN', basis: 'not-shown' },
  },
);
