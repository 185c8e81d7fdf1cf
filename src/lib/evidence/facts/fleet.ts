import type { Fact } from '../fact.ts';

export const fleetFacts = [
  {
    id: 'fleet.period',
    statement: 'A robot sends its heartbeat every 2 seconds.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 2,
    unit: 's',
    source: "specification, 'Limits' and 'Events'",
  },
  {
    id: 'fleet.one-datagram',
    statement: 'The heartbeat is one datagram per robot and interval.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 1,
    unit: 'datagrams',
    source: "specification, 'Other records'",
  },
  {
    id: 'fleet.port',
    statement: 'The heartbeat goes to UDP port 45301.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 45301,
    source: "specification, 'Events' and 'Cloud and other network paths'",
  },
  {
    id: 'fleet.signature',
    statement: 'The heartbeat is signed with HMAC-SHA256 and a key of the site.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 'HMAC-SHA256',
    source: "specification, 'Authentication'",
  },
  {
    id: 'fleet.payload',
    statement: 'What the heartbeat datagram carries beyond its signature is not shown.',
    mark: 'OFFEN',
    basis: 'not-shown',
    source: "specification, 'Cloud and other network paths'",
  },
] as const satisfies readonly Fact[];
