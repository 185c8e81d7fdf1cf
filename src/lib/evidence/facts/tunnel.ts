import { factsFrom, notShown, stated } from '../fact.ts';

export const tunnelFacts = factsFrom("specification, 'States and transitions'", {
  'tunnel.opened': stated(
    'A technician opens a tunnel in the cloud account for one serial number, naming up to three allowed services and a duration.',
    { value: 3, unit: 'services' },
  ),
  'tunnel.notification': stated('The cloud publishes the opening on a reserved topic of exactly that device.', {
    source: "specification, 'States and transitions' and 'Events'",
  }),
  'tunnel.notification-channel': stated(
    'The gateway listens for the notification over outbound 443 with the ALPN identifier x-<vendor>-mqtt-ca and the device certificate.',
    'MQTT alone may use 8883 as well (network.path-mqtt); for the notification only 443 is named. Project decision: gw has one MQTT link, on either port, and accepts the notification on it.',
    { value: { port: 443, alpn: 'x-<vendor>-mqtt-ca', certificate: 'device' } },
  ),
  'tunnel.destination-checks': stated(
    'The gateway refuses unless it is to be the destination, the region is the expected one, and every named service is in its own target list.',
    'gw also refuses a token that it has received before, and a session whose start cannot be recorded: project decisions.',
  ),
  'tunnel.token-in-environment': stated(
    'The access token reaches the local proxy as an environment variable, never on a command line.',
    { source: "specification, 'States and transitions' and 'Authentication'" },
  ),
  'tunnel.read-only-reach': stated('Through the tunnel the technician reaches only the read-only socket.'),
  'tunnel.two-clocks': stated(
    'A session is bounded by two independent clocks: the duration set in the cloud and the duration configured on the gateway. If one fails, the other still ends it.',
    { value: 2, unit: 'clocks', source: "specification, 'States and transitions' and 'Limits'" },
  ),
  'tunnel.ends-when-cut': stated(
    'A session also ends when the control computer loses the network.',
    'How long and by what it counts as lost is not stated. Project decision: 10 s without a TCP connection to the tunnel service, or without the interface or address of the tunnel.',
  ),
  'tunnel.no-inbound': stated('The tunnel is established from the device; it needs no inbound port.', {
    source: "specification, 'Core network rule'",
  }),
  'tunnel.session-record': stated(
    'Start and end of every session are written to a local line file and to the cloud; a failed write to the cloud is kept and sent later.',
    { source: "specification, 'Other records' and 'Events'" },
  ),
  'tunnel.session-record-fields': notShown(
    'The fields of a session record are not shown.',
    'Those of gw are a project decision (docs/remote-support.md).',
    { source: "specification, 'Other records'" },
  ),
  'tunnel.opening-identity': stated('Only an identity in the cloud account of the operator can open a session.', {
    source: "specification, 'Authentication'",
  }),
  'tunnel.opening-roles': notShown('Which staff roles may open a support session is not shown.', {
    source: "specification, 'Authentication'",
  }),
  'tunnel.duration-value': notShown(
    'The duration that is configured for a session is not shown.',
    'Project decision: the site file sets it, by default 60 minutes.',
    { source: "specification, 'Limits'" },
  ),
});
