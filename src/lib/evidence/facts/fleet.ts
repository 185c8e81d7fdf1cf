import { factsFrom, notShown, stated } from '../fact.ts';

export const fleetFacts = factsFrom("specification, 'Limits' and 'Events'", {
  'fleet.period': stated('A robot sends its heartbeat every 2 seconds.', { value: 2, unit: 's' }),
  'fleet.one-datagram': stated('The heartbeat is one datagram per robot and interval.', {
    value: 1,
    unit: 'datagrams',
    source: "specification, 'Other records'",
  }),
  'fleet.port': stated('The heartbeat goes to UDP port 45301.', {
    value: 45301,
    source: "specification, 'Events' and 'Cloud and other network paths'",
  }),
  'fleet.signature': stated('The heartbeat is signed with HMAC-SHA256 and a key of the site.', {
    value: 'HMAC-SHA256',
    source: "specification, 'Authentication'",
  }),
  'fleet.payload': notShown('What the heartbeat datagram carries beyond its signature is not shown.', {
    source: "specification, 'Cloud and other network paths'",
  }),
});
