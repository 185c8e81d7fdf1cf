import type { Fact } from '../fact.ts';

export const errorFacts = [
  {
    id: 'errors.403',
    statement:
      '403 on the read-only socket: a path that is not on the allow list, or a method other than GET and HEAD.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 403,
    source: "specification, 'Errors'",
  },
  {
    id: 'errors.401',
    statement: '401: an endpoint behind sign-in was requested without a session, for example through the tunnel.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 401,
    source: "specification, 'Errors'",
  },
  {
    id: 'errors.409',
    statement: '409 was seen for voice service, building module and sign-in on the full socket, in the test setup.',
    mark: 'BELEGT',
    basis: 'simulated',
    value: 409,
    source: "specification, 'Errors'",
    note: 'gw reads it as: not set up on this gateway. That is a project decision.',
  },
  {
    id: 'errors.409-condition',
    statement: 'What makes the operator server answer 409 is not shown.',
    mark: 'OFFEN',
    basis: 'not-shown',
    source: "specification, 'Errors'",
  },
  {
    id: 'errors.400-tour',
    statement: '400 was seen for POST /api/touren/lauf on the full socket with the request of the test.',
    mark: 'BELEGT',
    basis: 'simulated',
    value: 400,
    source: "specification, 'Errors'",
  },
  {
    id: 'errors.not-connected',
    statement:
      "'not connected' on the operator surface means that the chassis address is wrong or unreachable; the technician page names the address tried.",
    mark: 'BELEGT',
    basis: 'stated',
    source: "specification, 'Errors'",
  },
  {
    id: 'errors.body',
    statement: 'The format of error bodies is not shown.',
    mark: 'OFFEN',
    basis: 'not-shown',
    source: "specification, 'Errors'",
  },
] as const satisfies readonly Fact[];
