import { describe, expect, it } from 'vitest';
import { type Fact, type FactId, facts, findFact, isDisagreement, type Mark } from '../../src/lib/evidence/index.ts';

/**
 * Written by hand from the specification, line by line: each statement or open point, its explicit or implied mark, and
 * the facts of the ledger that contain it.
 */
type Row = readonly [said: string, mark: Mark, ...ids: readonly FactId[]];

const angles: readonly Row[] = [
  ['/tracked_pose ori: degrees', 'BELEGT', 'angles.tracked-pose-ori'],
  ['POST /chassis/pose ori: radians', 'BELEGT', 'angles.pose-ori'],
  ['1.5708 sent is reported as 90', 'BELEGT', 'angles.pose-ori-readback'],
  ['POST /chassis/moves target_ori: radians', 'BELEGT', 'angles.target-ori'],
  ['degrees there give 103', 'BELEGT', 'angles.target-ori-in-degrees'],
  ['overlays yaw and iconYaw: degrees, as strings', 'BELEGT', 'angles.overlay-yaw', 'angles.overlay-icon-yaw'],
  ['a wrong unit causes no error', 'BELEGT', 'angles.wrong-unit-is-silent'],
  ['inside, degrees; two conversions', 'BELEGT', 'angles.inside-degrees'],
];

const mapAndOverlays: readonly Row[] = [
  ['map: id, data, PNG', 'BELEGT', 'overlays.map-id', 'overlays.map-data', 'overlays.map-image'],
  ['overlays: features, overlays_version', 'BELEGT', 'overlays.features', 'overlays.version'],
  ['point: numeric type', 'BELEGT', 'overlays.point-type'],
  ['point type 11', 'VORSICHT', 'overlays.point-type-11'],
  ['point type 11 observed as stations A, B, C', 'BELEGT', 'overlays.point-type-11-observed'],
  ['point: startType, endType', 'BELEGT', 'overlays.point-start-end-type'],
  ['lane: direction, 3 observed', 'BELEGT', 'overlays.lane-direction'],
  ['zone: regionType, 24 kinds by name', 'BELEGT', 'overlays.zone-region-type', 'overlays.zone-kinds'],
  ['charging station: a pair, 0.899 m', 'BELEGT', 'overlays.charging-pair', 'overlays.charging-pair-distance'],
  ['iconYaw -82 reproducible', 'BELEGT', 'overlays.icon-yaw-offset'],
  ['iconYaw -82 unexplained', 'OFFEN', 'overlays.icon-yaw-offset-meaning'],
  ['iconYaw seems to affect display only', 'VORSICHT', 'overlays.icon-yaw-display-only'],
];

const notShown: readonly Row[] = [
  ['contents of the contracts only named', 'OFFEN', 'network.named-contracts-contents'],
  ['regionType of a no-go zone', 'OFFEN', 'overlays.no-go-region-type'],
  ['numbers of the other 23 zone kinds', 'OFFEN', 'overlays.other-region-types'],
  ['numbers of point kinds', 'OFFEN', 'overlays.point-kind-numbers'],
  ['meaning of lane direction 3', 'OFFEN', 'overlays.lane-direction-3'],
  ['field of a zone speed limit', 'OFFEN', 'overlays.zone-speed-limit-field'],
  ['meaning of startType and endType', 'OFFEN', 'overlays.start-end-type-meaning'],
  ['0.899 m a constant of the series', 'OFFEN', 'overlays.charging-pair-distance-constant'],
  ['own identifiers of written features', 'OFFEN', 'overlays.feature-identifiers'],
  ['chassis clock and time zone path', 'OFFEN', 'chassis.clock-and-zone'],
  [
    'fields of map, point, zone, lane',
    'OFFEN',
    'overlays.map-fields',
    'overlays.point-fields',
    'overlays.zone-fields',
    'overlays.lane-fields',
  ],
  ['fields of job document and session record', 'OFFEN', 'cloud.job-fields', 'tunnel.session-record-fields'],
  ['move order states', 'OFFEN', 'chassis.move-states'],
  ['pausing a move', 'OFFEN', 'chassis.move-pause'],
  ['rollout stages and rollback transitions', 'OFFEN', 'cloud.rollout-stages'],
  ['payloads of chassis and operator routes', 'OFFEN', 'chassis.payload-shapes', 'operator.payload-shapes'],
  ['complete list of operator routes', 'OFFEN', 'operator.route-list'],
  ['cloud topic tree', 'OFFEN', 'cloud.topic-tree'],
  ['building module interface', 'OFFEN', 'network.building-interface'],
  ['lift controller protocol', 'OFFEN', 'network.lift-protocol'],
  ['heartbeat payload', 'OFFEN', 'fleet.payload'],
  ['sign-in credential model', 'OFFEN', 'operator.sign-in-model'],
  ['session lifetime', 'OFFEN', 'operator.session-lifetime'],
  ['staff roles for support sessions', 'OFFEN', 'tunnel.opening-roles'],
  ['topic names and message payloads', 'OFFEN', 'cloud.topic-tree', 'cloud.message-payloads'],
  ['error body format', 'OFFEN', 'errors.body'],
  ['fail_reason values beyond 103', 'OFFEN', 'chassis.fail-reasons'],
  ['conditions of 409', 'OFFEN', 'errors.409-condition'],
  ['rate limits', 'OFFEN', 'limits.rates'],
  ['configured session duration', 'OFFEN', 'tunnel.duration-value'],
  ['pre-signed URL lifetime', 'OFFEN', 'cloud.storage-lifetime'],
  ['operator API versioning', 'OFFEN', 'operator.api-versioning'],
  ['cloud message versioning', 'OFFEN', 'cloud.message-versioning'],
  ['a constant of the series is unknown', 'OFFEN', 'chassis.series-constants'],
];

const marked: readonly Row[] = [
  ['PATCH /maps never measured', 'VORSICHT', 'chassis.patch-maps'],
  ['restart_service lost the maps', 'BELEGT', 'chassis.restart-loses-maps'],
  ['cause of the map loss unverified', 'OFFEN', 'chassis.restart-loses-maps-cause'],
  ['accessibility services by loopback', 'HINWEIS', 'network.accessibility-loopback'],
  ['documentParameters substitution unverified', 'VORSICHT', 'cloud.job-parameters-substitution'],
  ['all measurements on one device', 'BELEGT', 'chassis.one-device'],
];

const chassis: readonly Row[] = [
  ['port 8090, HTTP and WebSocket', 'BELEGT', 'chassis.interface'],
  ['no authentication', 'BELEGT', 'chassis.no-authentication'],
  ['GET /device/info', 'BELEGT', 'chassis.device-info'],
  ['POST /chassis/moves and fail_reason', 'BELEGT', 'chassis.moves', 'chassis.fail-reason'],
  ['POST /chassis/pose', 'BELEGT', 'chassis.pose'],
  ['/ws/v2/topics the only source of state', 'BELEGT', 'chassis.topics', 'chassis.websocket-version'],
  ['serial number is the identity', 'BELEGT', 'chassis.serial-identity'],
];

const operator: readonly Row[] = [
  ['5173 on all interfaces', 'BELEGT', 'operator.full-socket'],
  ['5174 on 127.0.0.1', 'BELEGT', 'operator.read-only-socket'],
  ['the same application', 'BELEGT', 'operator.one-application'],
  ['rule 1: methods', 'BELEGT', 'operator.read-only-methods'],
  ['rule 2: allow list', 'BELEGT', 'operator.read-only-allow-list'],
  ['rule 3: socket of arrival', 'BELEGT', 'operator.read-only-by-socket'],
  ['rule 4: map as data', 'BELEGT', 'operator.read-only-map'],
  ['sign-in', 'BELEGT', 'operator.sign-in'],
  ['no sign-in on the read-only socket', 'BELEGT', 'operator.read-only-no-sign-in'],
];

/** Every row of the route table, status by status. */
const routes: readonly (readonly [id: FactId, request: string, full: number, readOnly: number])[] = [
  ['operator.route-surface', 'GET /', 200, 200],
  ['operator.route-service', 'GET /service', 200, 200],
  ['operator.route-neighbours', 'GET /api/nachbarn', 200, 200],
  ['operator.route-device-info', 'GET /api/chassis/device/info', 200, 200],
  ['operator.route-map-image', 'GET /api/chassis/maps/<map_id>.png', 200, 403],
  ['operator.route-media', 'GET /api/medien', 200, 403],
  ['operator.route-voice', 'GET /api/chatbot/config', 409, 403],
  ['operator.route-building', 'GET /api/uiot/status', 409, 403],
  ['operator.route-sign-in-form', 'GET /anmeldung', 200, 403],
  ['operator.route-start-tour', 'POST /api/touren/lauf', 400, 403],
  ['operator.route-sign-in', 'POST /api/anmeldung', 409, 403],
  ['operator.route-sign-out', 'DELETE /api/anmeldung', 200, 403],
];

const network: readonly Row[] = [
  ['three interfaces', 'BELEGT', 'network.chassis-interface', 'network.operator-interface', 'network.cloud-interface'],
  ['one robot', 'BELEGT', 'network.robot-parts'],
  ['contracts by name and kind', 'BELEGT', 'network.named-contracts', 'network.named-contracts-kinds'],
  ['rule 1: no inbound port', 'BELEGT', 'network.no-inbound'],
  ['rule 2: 443 is enough, 8883 an alternative', 'BELEGT', 'network.outbound-443', 'network.outbound-8883'],
  [
    'rule 3: own topic, two messages, others discarded',
    'BELEGT',
    'cloud.own-topic-only',
    'cloud.two-messages',
    'cloud.other-messages',
  ],
  ['rule 4: tunnel from the device', 'BELEGT', 'tunnel.no-inbound'],
  [
    'three segments and their reason',
    'BELEGT',
    'network.robot-segment',
    'network.site-segment',
    'network.outside',
    'network.outside-endpoints',
    'network.segment-reason',
  ],
  [
    'addressing 2 to 5',
    'BELEGT',
    'network.chassis-reservation',
    'network.gateway-reservation',
    'network.tablet-address',
    'network.building-address',
  ],
  ['addressing 6', 'BELEGT', 'network.address-change-visible'],
  ['customer IT request', 'BELEGT', 'network.customer-request'],
  ['path to the chassis', 'BELEGT', 'network.path-chassis'],
  ['path to the operator server', 'BELEGT', 'network.path-operator'],
  ['path of the maintenance proxy', 'BELEGT', 'network.path-read-only'],
  ['path of the heartbeat', 'BELEGT', 'network.path-fleet', 'fleet.port'],
  ['path of SSH', 'BELEGT', 'network.path-ssh'],
  ['path of ADB', 'BELEGT', 'network.path-adb'],
  ['path to MQTT, ALPN', 'BELEGT', 'network.path-mqtt', 'cloud.alpn', 'cloud.client-certificate'],
  ['path to object storage', 'BELEGT', 'network.path-storage', 'cloud.storage-addresses', 'cloud.storage-contents'],
  ['path to enrolment', 'BELEGT', 'network.path-enrolment', 'cloud.enrolment'],
  ['path to the tunnel service', 'BELEGT', 'network.path-tunnel'],
  ['path to accessibility services', 'HINWEIS', 'network.path-accessibility', 'network.accessibility-loopback'],
  ['path to the voice service', 'BELEGT', 'network.path-voice'],
  ['path to the building module', 'BELEGT', 'network.path-building'],
  ['path to the lift controller', 'BELEGT', 'network.path-lift'],
];

const cloudAndTunnel: readonly Row[] = [
  ['telemetry, faults, shadow buffered', 'BELEGT', 'cloud.outgoing-buffered'],
  ['update job', 'BELEGT', 'cloud.update-job', 'cloud.job-parameters'],
  ['rollout in four stages, rollback', 'BELEGT', 'cloud.rollout'],
  ['tunnel opened', 'BELEGT', 'tunnel.opened', 'tunnel.opening-identity'],
  [
    'notification received',
    'BELEGT',
    'tunnel.notification',
    'tunnel.notification-channel',
    'tunnel.destination-checks',
  ],
  ['exactly two messages, and the notification', 'OFFEN', 'cloud.two-messages-and-notification'],
  ['update job and version release', 'OFFEN', 'cloud.update-job-and-release'],
  ['gateway and tablet only, and the browsers and laptops', 'OFFEN', 'network.robot-segment-clients'],
  ['proxy running', 'BELEGT', 'tunnel.token-in-environment', 'tunnel.read-only-reach'],
  ['session ended', 'BELEGT', 'tunnel.two-clocks', 'tunnel.ends-when-cut'],
  ['start and end written twice', 'BELEGT', 'tunnel.session-record'],
  ['heartbeat', 'BELEGT', 'fleet.period', 'fleet.one-datagram', 'fleet.signature'],
];

const errors: readonly Row[] = [
  ['403', 'BELEGT', 'errors.403'],
  ['401', 'BELEGT', 'errors.401'],
  ['409 observed', 'BELEGT', 'errors.409'],
  ['400 for the tour', 'BELEGT', 'errors.400-tour'],
  ['fail_reason 103', 'BELEGT', 'chassis.fail-reason-103'],
  ['not connected', 'BELEGT', 'errors.not-connected'],
];

const limits: readonly Row[] = [
  ['heartbeat period', 'BELEGT', 'fleet.period'],
  ['media library file size', 'BELEGT', 'limits.media-file'],
  ['tunnel session: two clocks', 'BELEGT', 'tunnel.two-clocks'],
  ['pre-signed URLs short-lived', 'BELEGT', 'cloud.storage-addresses'],
  ['inbound ports: none', 'BELEGT', 'network.no-inbound'],
  ['outbound ports', 'BELEGT', 'network.outbound-443', 'network.outbound-8883'],
];

const everything = [
  ...angles,
  ...mapAndOverlays,
  ...notShown,
  ...marked,
  ...chassis,
  ...operator,
  ...network,
  ...cloudAndTunnel,
  ...errors,
  ...limits,
];

describe('every statement of the specification is in the ledger', () => {
  it.each(everything)('%s (%s)', (_said, mark, ...ids) => {
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) expect(findFact(id)?.mark, id).toBe(mark);
  });

  it.each(routes)('%s: %s returns %i and %i', (id, request, full, readOnly) => {
    const fact = findFact(id);
    expect(fact?.value).toEqual({ full, readOnly });
    expect(fact?.statement.startsWith(`${request} (`)).toBe(true);
    expect(fact?.note).toContain('simulator');
  });

  it('and the ledger has no other fact of the specification', () => {
    const listed = new Set<string>([...everything.flatMap(([, , ...ids]) => ids), ...routes.map(([id]) => id)]);
    const others = facts.filter((fact) => fact.source.startsWith('specification,') && !isDisagreement(fact));
    expect(others.map(({ id }) => id as string).filter((id) => !listed.has(id))).toEqual([]);
  });
});

/**
 * Written by hand from the specification: the BELEGT facts that it states as measured, observed, seen or reported back
 * on a device. All other BELEGT facts are only stated, or were seen on a simulator.
 */
const measuredOnDevice: readonly FactId[] = [
  'angles.tracked-pose-ori',
  'angles.pose-ori',
  'angles.pose-ori-readback',
  'angles.target-ori-in-degrees',
  'chassis.restart-loses-maps',
  'chassis.fail-reason-103',
  'overlays.point-type-11-observed',
  'overlays.lane-direction',
  'overlays.charging-pair-distance',
  'overlays.icon-yaw-offset',
];

describe('among BELEGT facts', () => {
  const withBasis = (basis: string) =>
    facts.filter((fact) => fact.mark === 'BELEGT' && fact.basis === basis).map(({ id }) => id as FactId);

  it('only what the specification states as measured or observed on a device is marked measured', () => {
    expect(withBasis('measured').sort()).toEqual([...measuredOnDevice].sort());
  });

  it('the routes, and the two answers observed in the same test, are marked measured on a simulator', () => {
    const seen = withBasis('simulated');
    expect(seen.sort()).toEqual([...routes.map(([id]) => id), 'errors.400-tour', 'errors.409'].sort());
  });

  it('stated facts are not supported by a measurement, except where a measured fact is named', () => {
    const borne = (facts as readonly Fact[]).filter(({ observedBy }) => observedBy !== undefined);
    expect(borne.map(({ id, observedBy }) => [id, observedBy])).toEqual([
      ['angles.target-ori', 'angles.target-ori-in-degrees'],
    ]);
    for (const { basis, observedBy } of borne) {
      expect([basis, findFact(observedBy ?? '')?.basis]).toEqual(['stated', 'measured']);
    }
  });
});

describe('terms that the specification does not use', () => {
  it.each([
    ['overlays.charging-pair-distance', /on one site/],
    ['cloud.job-parameters-substitution', /said to/],
    ['overlays.icon-yaw-display-only', /^`iconYaw` seems/],
  ] as const)('%s does not contain %s', (id, words) => {
    const fact = findFact(id);
    expect(`${fact?.statement} ${fact?.note ?? ''}`).not.toMatch(words);
  });

  it('the limit of the media library is that of the platform, in its own unit', () => {
    expect(findFact('limits.media-file')).toMatchObject({ value: 200, unit: 'MB', basis: 'stated' });
    expect(findFact('tunnel.opened')?.statement).toContain('up to three allowed services');
  });
});
