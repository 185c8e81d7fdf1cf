import { describe, expect, it } from 'vitest';
import { type Fact, type FactId, facts, findFact, isDisagreement, type Mark } from '../../src/lib/evidence/index.ts';

/**
 * Written by hand from the specification, line by line: the facts of the ledger that contain each of its statements and
 * open points, by the mark that it states or implies, and by section.
 */
const stated: Readonly<Record<Mark, Readonly<Record<string, string>>>> = {
  BELEGT: {
    angles: `
      tracked-pose-ori pose-ori pose-ori-readback target-ori target-ori-in-degrees overlay-yaw overlay-icon-yaw
      wrong-unit-is-silent inside-degrees
    `,
    overlays: `
      map-id map-data map-image features version point-type point-type-11-observed point-start-end-type
      lane-direction zone-region-type zone-kinds charging-pair charging-pair-distance icon-yaw-offset
    `,
    chassis: `
      restart-loses-maps one-device interface no-authentication device-info moves fail-reason pose topics
      websocket-version serial-identity fail-reason-103
    `,
    operator: `
      full-socket read-only-socket one-application read-only-methods read-only-allow-list read-only-by-socket
      read-only-map sign-in read-only-no-sign-in
    `,
    network: `
      chassis-interface operator-interface cloud-interface robot-parts named-contracts named-contracts-kinds
      no-inbound outbound-443 outbound-8883 robot-segment site-segment outside outside-endpoints segment-reason
      chassis-reservation gateway-reservation tablet-address building-address address-change-visible
      customer-request path-chassis path-operator path-read-only path-fleet path-ssh path-adb path-mqtt
      path-storage path-enrolment path-tunnel path-voice path-building path-lift
    `,
    cloud: `
      own-topic-only two-messages other-messages alpn client-certificate storage-addresses storage-contents
      enrolment outgoing-buffered update-job job-parameters rollout
    `,
    tunnel: `
      no-inbound opened opening-identity notification notification-channel destination-checks
      token-in-environment read-only-reach two-clocks ends-when-cut session-record
    `,
    fleet: 'port period one-datagram signature',
    errors: '403 401 409 400-tour not-connected',
    limits: 'media-file',
  },
  HINWEIS: {
    network: 'accessibility-loopback path-accessibility',
  },
  VORSICHT: {
    overlays: 'point-type-11 icon-yaw-display-only',
    chassis: 'patch-maps',
    cloud: 'job-parameters-substitution',
  },
  OFFEN: {
    overlays: `
      icon-yaw-offset-meaning no-go-region-type other-region-types point-kind-numbers lane-direction-3
      zone-speed-limit-field start-end-type-meaning charging-pair-distance-constant feature-identifiers
      map-fields point-fields zone-fields lane-fields
    `,
    network: 'named-contracts-contents building-interface lift-protocol robot-segment-clients',
    chassis: `
      clock-and-zone move-states move-pause payload-shapes fail-reasons series-constants
      restart-loses-maps-cause
    `,
    cloud: `
      job-fields rollout-stages topic-tree message-payloads storage-lifetime message-versioning
      two-messages-and-notification update-job-and-release
    `,
    tunnel: 'session-record-fields opening-roles duration-value',
    operator: 'payload-shapes route-list sign-in-model session-lifetime api-versioning',
    fleet: 'payload',
    errors: 'body 409-condition',
    limits: 'rates',
  },
};
const rows = Object.entries(stated).flatMap(([mark, sections]) =>
  Object.entries(sections).flatMap(([section, names]) =>
    (names.match(/\S+/g) ?? []).map((name) => [`${section}.${name}`, mark] as const),
  ),
);

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

describe('every statement of the specification is in the ledger', () => {
  it.each(rows)('%s (%s)', (id, mark) => {
    expect(findFact(id)?.mark).toBe(mark);
  });

  it.each(routes)('%s: %s returns %i and %i', (id, request, full, readOnly) => {
    const fact = findFact(id);
    expect(fact?.value).toEqual({ full, readOnly });
    expect(fact?.statement.startsWith(`${request} (`)).toBe(true);
    expect(fact?.note).toContain('simulator');
  });

  it('and the ledger has no other fact of the specification', () => {
    const listed = new Set<string>([...rows, ...routes].map(([id]) => id));
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
