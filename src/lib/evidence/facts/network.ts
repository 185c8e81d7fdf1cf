import { factsFrom, notShown, stated, vendor } from '../fact.ts';

const contracts = {
  'operator UI': 'OpenAPI 3',
  'guest row': 'OpenAPI 3',
  'lift control': 'OpenAPI 3',
  'door control': 'OpenAPI 3',
  'multi-level movement': 'OpenAPI 3',
  'map sync between robots': 'REST',
  'movement authority': 'REST, draft',
  'voice assistant': 'OpenAPI 3',
  'device communication': 'gRPC/Protobuf',
  'building IoT module': 'REST',
  'messaging gateway': 'WebSocket/JSON',
};

export const networkFacts = [
  ...factsFrom("specification, 'What the service does'", {
    'network.robot-parts': stated(
      'One robot is a chassis, a gateway that runs the operator server, and a tablet that shows the operator surface.',
      { value: ['chassis', 'gateway', 'tablet'] },
    ),
  }),
  ...factsFrom("specification, 'Interfaces'", {
    'network.chassis-interface': stated('The chassis interface is REST plus WebSocket.'),
    'network.operator-interface': stated('The operator server offers REST under /api/** plus pages.'),
    'network.cloud-interface': stated('The cloud interface is MQTT with JSON.'),
    'network.named-contracts': stated('Eleven further contracts exist, by name only.', {
      value: Object.keys(contracts),
    }),
    'network.named-contracts-kinds': stated('Each of the eleven further contracts is of a named kind.', {
      value: contracts,
    }),
    'network.named-contracts-contents': notShown('The contents of the contracts that are only named are not shown.'),
  }),
  ...factsFrom("specification, 'Core network rule' and 'Limits'", {
    'network.no-inbound': stated(
      'No inbound port is opened at the customer site; the device starts every connection that leaves it.',
      { value: 0, unit: 'ports' },
    ),
    'network.outbound-443': stated('Outgoing HTTPS on 443 is enough for everything.', { value: 443 }),
    'network.outbound-8883': stated('8883 is an alternative to 443 for MQTT.', { value: 8883 }),
    'network.robot-segment': stated(
      'Chassis, gateway and tablet of one robot share a dedicated WLAN or VLAN that only gateway and tablet may reach.',
      { source: "specification, 'Network segments'" },
    ),
    'network.robot-segment-clients': notShown(
      'The specification lets only gateway and tablet reach the robot segment, and names browsers and the laptop of a technician in it; how these fit together is not shown.',
      'A contradiction within the specification: network.robot-segment against network.path-operator, network.path-ssh and network.path-adb. Project decision: gateway and tablet permanently, a laptop for a commissioning or a service visit, no other device.',
      { source: "specification, 'Network segments' against 'Cloud and other network paths'" },
    ),
  }),
  ...factsFrom("specification, 'Network segments'", {
    'network.site-segment': stated(
      'Of the customer network the gateway reaches only the few configured addresses: building module, doors, lifts, optionally a site server.',
    ),
    'network.outside': stated('Outside, the gateway reaches the public cloud in the Frankfurt region, outbound only.', {
      value: 'eu-central-1',
    }),
    'network.outside-endpoints': stated(
      'MQTT broker, object storage and enrolment endpoint are in the Frankfurt region (eu-central-1).',
      { value: ['MQTT broker', 'object storage', 'enrolment endpoint'] },
    ),
    'network.segment-reason': stated('The segments are separate because the chassis requires no authentication.'),
  }),
  ...factsFrom("specification, 'Addressing rules'", {
    'network.chassis-reservation': stated('The chassis has a fixed DHCP reservation keyed to its MAC address.'),
    'network.gateway-reservation': stated('The gateway has a fixed DHCP reservation.'),
    'network.tablet-address': stated('The tablet uses plain DHCP and needs no reservation.'),
    'network.building-address': stated(
      'The building IoT module has a fixed address, entered once; it is called and does not call.',
    ),
    'network.address-change-visible': stated(
      'When the chassis address changes, the operator surface shows that it is not connected and the technician page names the address tried, within seconds.',
      "'Within seconds' is all that is stated; gw aims at two.",
    ),
    'network.customer-request': stated(
      'The customer is asked for a separate WLAN or VLAN, outgoing 443 (optionally 8883) to the cloud region, no incoming connection, and one agreed address for each door or lift device.',
      { source: "specification, 'Customer IT request'" },
    ),
  }),
  ...factsFrom("specification, 'Cloud and other network paths'", {
    'network.path-chassis': stated(
      'Gateway and tablet reach the chassis on 8090 TCP, HTTP and WebSocket, for state and movement.',
      { value: 8090 },
    ),
    'network.path-operator': stated(
      'Tablet and browsers in the robot segment reach the operator server on 5173 TCP, HTTP.',
      { value: 5173 },
    ),
    'network.path-read-only': stated(
      'The maintenance proxy on the gateway reaches the operator server on 5174 TCP, HTTP, by loopback only.',
      { value: 5174 },
    ),
    'network.path-fleet': stated(
      'Gateways reach each other on 45301 UDP by broadcast to 255.255.255.255; where broadcast is filtered, by a configured list of addresses.',
      { value: 45301 },
    ),
    'network.path-ssh': stated(
      'A technician laptop reaches the gateway on 22 TCP, SSH, for commissioning, in the robot segment only.',
      { value: 22 },
    ),
    'network.path-adb': stated(
      'A technician laptop reaches the tablet on 5555 TCP, Android debug bridge, only while the kiosk shell is installed; switched off afterwards.',
      { value: 5555 },
    ),
    'network.path-mqtt': stated(
      'The gateway reaches the MQTT endpoint on 8883 TCP, falling back to 443, by TLS with a client certificate.',
      { value: [8883, 443] },
    ),
    'network.path-storage': stated(
      'The gateway reaches object storage in the same region on 443 HTTPS, only by short-lived pre-signed addresses.',
      { value: 443 },
    ),
    'network.path-enrolment': stated('The gateway reaches the enrolment address on 443 HTTPS.', { value: 443 }),
    'network.path-tunnel': stated(
      'The gateway reaches the secure tunnel service on 443 TLS, outbound, only while a session is open.',
      { value: 443 },
    ),
    'network.path-accessibility': vendor(
      'The accessibility services (door, lift, level change) answer on 3100 TCP, door control on 8080 TCP, HTTP.',
      'The row of the specification carries the mark HINWEIS.',
      { value: [3100, 8080] },
    ),
    'network.accessibility-loopback': vendor(
      'The accessibility services are reached by loopback when they run on the same gateway.',
      'The row of the specification carries the mark HINWEIS.',
    ),
    'network.path-voice': stated('The gateway reaches the voice service on 3001 TCP, HTTP.', { value: 3001 }),
    'network.path-building': stated(
      'The gateway reaches the building IoT module by HTTP at the configured address and port; nothing of it is interpreted.',
    ),
    'network.path-lift': stated(
      'The gateway reaches the lift controller in a way that depends on its vendor, configured on each site.',
    ),
    'network.building-interface': notShown('The interface of the building IoT module is not shown.'),
    'network.lift-protocol': notShown('The protocol of the lift controller is not shown.'),
  }),
];
