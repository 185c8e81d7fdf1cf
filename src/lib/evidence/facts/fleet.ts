import { factsOf } from '../fact.ts';

export const fleetFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Limits' and 'Events'" },
  {
    'fleet.period': { statement: 'A robot sends its heartbeat every 2 seconds.', value: 2, unit: 's' },
    'fleet.one-datagram': {
      statement: 'The heartbeat is one datagram per robot and interval.',
      value: 1,
      unit: 'datagrams',
      source: "specification, 'Other records'",
    },
    'fleet.port': {
      statement: 'The heartbeat goes to UDP port 45301.',
      value: 45301,
      source: "specification, 'Events' and 'Cloud and other network paths'",
    },
    'fleet.signature': {
      statement: 'The heartbeat is signed with HMAC-SHA256 and a key of the site.',
      value: 'HMAC-SHA256',
      source: "specification, 'Authentication'",
    },
    'fleet.payload': {
      statement: 'What the heartbeat datagram carries beyond its signature is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Cloud and other network paths'",
    },
  },
);
