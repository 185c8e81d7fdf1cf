import { joinWords } from '../../text/index.ts';

/** `TCP port 443`, `TCP ports 443 and 8443`. */
function portsEn(ports: readonly number[]): string {
  return `TCP port${ports.length === 1 ? '' : 's'} ${joinWords(ports, 'and')}`;
}

/** The request to the IT of a customer, in English. The German one has the same keys. */
export const letterEn = {
  subject: (site: string) => `Network connection for our delivery robot "${site}"`,
  subjectLine: (serial: string) => `Serial number of the chassis: ${serial}`,
  greetingNamed: (name: string) => `Dear ${name},`,
  greetingFormal: (salutation: 'Mr' | 'Ms', title: string | null, lastName: string) =>
    `Dear ${title ?? salutation} ${lastName},`,
  addressee: (_salutation: 'Mr' | 'Ms', name: string | null) => name,
  greeting: 'Dear Sir or Madam,',
  openOperator: '[open: we will send this]',
  openCustomer: '[open: please tell us]',
  openRecipient: '[open: name and company of the recipient]',
  openSender: '[open: our name and company]',

  intro:
    'We are going to run an autonomous delivery robot in your building. It consists of a chassis, a control computer (gateway) and a tablet. For its connection to the network we ask you to set up the following:',
  asks: ({ needed, optional }: { readonly needed: readonly number[]; readonly optional: readonly number[] }) => [
    'a separate WLAN or VLAN (called robot segment here) that holds chassis, gateway and tablet and nothing else,',
    'a fixed DHCP reservation for the chassis and one for the gateway,',
    `outgoing connections from the gateway to the destinations of section 3 on ${portsEn(needed)}${optional.length === 0 ? '' : `, optionally also on ${portsEn(optional)}`},`,
    'for doors and lifts, one agreed address per device in the house network (section 5).',
  ],
  noInbound:
    'We need no incoming connection: no port forwarding, no inbound firewall rule and no VPN access to your network.',

  segmentTitle: '1. The robot segment and the reason for it',
  reason: (port: number) =>
    `The control interface of the chassis (TCP port ${port}) has no authentication. Whoever reaches it over the network can drive the robot, among people. The separation of the segment is the only protection of this interface, so it is a matter of safety and not only of IT security.`,
  segmentAsks: [
    'No other devices in the robot segment; no access to it from office, guest or house networks.',
    'Within the segment, gateway and tablet must reach the chassis, and the tablet the gateway. If it is a WLAN, please leave client isolation switched off there.',
    'From the segment into the house network, only the gateway, and only to the addresses of section 5. Please confirm this to us: from the gateway it cannot be proven that it reaches no other address.',
    'From the segment to the Internet, only the gateway, and only to the destinations of section 3.',
  ],
  segmentRange: 'Address range',
  heartbeatRouted: (port: number, own: string, others: string) =>
    `Each robot has a robot segment of its own. Every 2 seconds the gateways of the robots send each other a signed heartbeat, one UDP datagram to port ${port}. Please route UDP port ${port} (source and destination) in both directions between the gateway ${own} and the gateways ${others}, and nothing else between the robot segments.`,
  heartbeatRoutedOpen: (port: number) =>
    `Each robot has a robot segment of its own. Every 2 seconds the gateways of the robots send each other a signed heartbeat, one UDP datagram to port ${port}. Please route UDP port ${port} (source and destination) in both directions between these gateways, and nothing else between the robot segments. The addresses of the other gateways: `,

  dhcpTitle: '2. DHCP reservations',
  dhcpHead: ['Device', 'MAC address', 'Address', 'Kind'] as readonly string[],
  device: { chassis: 'Chassis', gateway: 'Gateway', tablet: 'Tablet' },
  fixed: 'fixed reservation',
  plainDhcp: 'plain DHCP, no reservation',
  none: 'not needed',
  byName: (name: string) => `host name ${name}`,
  dhcpNote:
    'The gateway finds the chassis at these addresses, and the tablet finds the gateway. When the address of the chassis changes, the operator surface shows "not connected" and the robot does not drive.',

  outTitle: '3. Outgoing connections to the cloud',
  outRegion: (region: string) => `All connections are opened by the gateway, to the cloud region ${region}.`,
  outRegionButTime: (region: string) =>
    `All connections are opened by the gateway, to the cloud region ${region}; the addresses that are only for the time of day may be elsewhere.`,
  frankfurt: 'Frankfurt (eu-central-1)',
  outHead: ['Destination', 'Port and protocol', 'Purpose', 'Needed'] as readonly string[],
  outProtocol: {
    'mqtt-443': (port: number) => `${port} TCP, MQTT over TLS`,
    mqtt: (port: number) => `${port} TCP, MQTT over TLS`,
    storage: (port: number) => `${port} TCP, HTTPS`,
    tunnel: (port: number) => `${port} TCP, TLS`,
    enrolment: (port: number) => `${port} TCP, HTTPS`,
    time: (port: number) => `${port} TCP, HTTPS`,
  },
  outPurpose: {
    'mqtt-443': 'Telemetry, faults, notice of updates',
    mqtt: 'The same; preferred where it is allowed',
    storage: 'Update packages and map backups, only by short-lived pre-signed addresses',
    tunnel: 'Remote support',
    enrolment: 'Device certificate',
    time: 'comparison of the time of day, one request without content every six hours',
  },
  alpn: (name: string) => `ALPN ${name}`,
  need: {
    needed: 'yes',
    optional: 'optional',
    'in-session': 'yes; only open during a support session',
    'before-delivery': 'once, done before delivery; at your site only for a renewal',
  },
  outBasics: [
    ['your DNS server, as DHCP assigns it', '53 UDP and TCP, DNS', 'resolves the names in this table', 'yes'],
    [
      'your time server, as DHCP assigns it, if there is one',
      '123 UDP, NTP',
      'time of the gateway, for records and certificates',
      'optional; nothing that concerns safety depends on it',
    ],
  ] as readonly (readonly string[])[],
  outNotes: [
    'Please exempt these destinations from TLS inspection: the gateway verifies the server certificates, and authenticates to the MQTT broker with a client certificate. An intercepted connection fails.',
    'The connections are made directly, not through a web proxy.',
    'Please allow the destinations by name; their IP addresses are not fixed. The names must be resolvable from the robot segment.',
  ],

  inTitle: '4. No incoming connections',
  inText: [
    'Every connection that leaves your site is initiated by the gateway, remote support included: the gateway itself opens the tunnel, for the time of one session, and the start and end of each session are recorded.',
    'Remote support sees a read-only view of the robot. It cannot start a tour, change a setting or reach any other device of your network.',
    'From the cloud the gateway accepts exactly two commands: a version release and a stop. Besides them it processes two kinds of messages that are no commands: the notification of a support session, which it checks before it opens anything, and the answers to its own requests. It receives them only on topics that it has subscribed to itself; every other message is discarded and logged.',
  ],

  houseTitle: '5. Doors, lifts and other devices in the house network',
  houseText:
    'Only the gateway opens connections to these devices; they do not connect to the gateway. In operation it calls the building IoT module and the voice service. Doors, lifts and level changes it does not operate with its present software: it only checks, every 15 minutes and when asked to, that each address accepts a TCP connection, and closes it without sending anything. One agreed address each:',
  onGateway: (services: string) =>
    `On the gateway itself: ${services}. These connections do not leave the gateway, and need nothing from you.`,
  houseHead: ['Device', 'Kind', 'Address', 'Port'] as readonly string[],
  houseKind: {
    door: 'Door',
    lift: 'Lift',
    'level-change': 'Level change',
    'building-module': 'Building IoT module',
    voice: 'Voice service',
    other: 'Other',
  },
  houseNone:
    'No device has been agreed yet. If the robot is to use doors or lifts, please tell us the fixed address and the port of each of them. If it is not, nothing has to be set up here.',

  insideTitle: '6. Connections inside the robot segment, for your information',
  insideHead: ['From', 'To', 'Port and protocol', 'Purpose'] as readonly string[],
  inside: {
    chassis: ['Gateway, tablet', 'Chassis', 'HTTP and WebSocket', 'State and movement'],
    operator: ['Tablet, browsers in the segment', 'Gateway', 'HTTP', 'Operator surface'],
    heartbeat: ['Gateway', 'Gateways of the other robots', '', 'Heartbeat of the robots'],
    ssh: ['Laptop of the technician', 'Gateway', 'SSH', 'Commissioning'],
    adb: [
      'Laptop of the technician',
      'Tablet',
      'Android debug bridge',
      'Set-up of the tablet; switched off again afterwards',
    ],
  } as Readonly<Record<'chassis' | 'operator' | 'heartbeat' | 'ssh' | 'adb', readonly string[]>>,
  heartbeatBroadcast: 'broadcast 255.255.255.255, which ends at the robot segment',
  commissioning:
    'For the commissioning our technician needs access to the robot segment with a laptop (key of the WLAN, or a port of the VLAN).',

  openTitle: '7. Open points',
  openFromYou: 'Please tell us:',
  openFromUs: 'We will send you:',
  openNone: 'None.',
  openAlpn: (port: number) => `the ALPN identifier for MQTT on port ${port}`,
  openWhat: {
    segment: 'the address range of the robot segment',
    'chassis-address': 'the reserved address of the chassis',
    'gateway-address': 'the reserved address of the gateway',
    devices: 'address and port of each door and lift that the robot is to use',
    'chassis-mac': 'the MAC address of the chassis',
    'gateway-mac': 'the MAC address of the gateway',
    'mqtt-host': 'the host name of the MQTT broker',
    'storage-host': 'the host name of the object storage',
    'tunnel-host': 'the host name of the tunnel service',
    'enrolment-host': 'the host name of the enrolment endpoint',
    'heartbeat-gateways': 'the addresses of the gateways of the other robots',
  } as Readonly<Record<string, string>>,

  closingTitle: '8. What comes next',
  closing:
    'Please confirm when this has been set up. On the day of commissioning we test the connections from the gateway and give you the result.',
  questions: (reach: string) => `For questions: ${reach}.`,
  regards: 'Yours faithfully',
  phone: (number: string) => `Phone ${number}`,
  footer: (site: string, serial: string) => `Network request, ${site}, ${serial}`,
};
