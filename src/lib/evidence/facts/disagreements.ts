import type { Disagreement } from '../fact.ts';
import type { angleFacts } from './angles.ts';
import type { chassisFacts } from './chassis.ts';
import type { overlayFacts } from './overlays.ts';
import type { vendorCallFacts } from './vendor-calls.ts';
import type { vendorCodeFacts } from './vendor-codes.ts';
import type { vendorTopicFacts } from './vendor-topics.ts';

/** Restricts `between` to existing ids. */
type Side = (
  | typeof angleFacts
  | typeof overlayFacts
  | typeof chassisFacts
  | typeof vendorCallFacts
  | typeof vendorTopicFacts
  | typeof vendorCodeFacts
)[number]['id'];

const source = 'specification against vendor texts';

export const disagreementFacts = [
  {
    id: 'disagreement.c1-tracked-pose-unit',
    statement: 'Unit of `ori` on /tracked_pose: degrees were measured (BELEGT), a vendor text says radians (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['angles.tracked-pose-ori', 'vendor.topic.tracked-pose-ori'],
    wins: 'angles.tracked-pose-ori',
    consequence:
      'gw reads degrees. The probe judges the samples of each device: a change that radians cannot reach proves degrees, a seam of a radian range passed twice or the courses of the driving robot prove radians, and then the motion gate closes; signs that prove nothing close it until degrees are proven. Every other `ori` of the WebSocket is shown raw.',
    source,
  },
  {
    id: 'disagreement.c2-authentication',
    statement:
      'Authentication of the chassis: none at all (BELEGT stated), a vendor text asks for a Secret header (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['chassis.no-authentication', 'vendor.secret-header'],
    wins: 'chassis.no-authentication',
    consequence:
      'gw can send a secret to a chassis that requires one and relies on none: the robot segment is the only protection.',
    source,
    note: 'Both can hold if the caller that was observed was exempt.',
  },
  {
    id: 'disagreement.c3-state-source',
    statement:
      'Source of state: the WebSocket only (BELEGT stated), a vendor text also reads moves and current map by REST (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['chassis.topics', 'vendor.state.rest-readable'],
    wins: 'chassis.topics',
    consequence: 'Live state comes from the topics. REST serves to look up one move that gw itself ordered.',
    source,
  },
  {
    id: 'disagreement.c4-point-type-11',
    statement:
      'Point type 11: assumed to be a delivery point (VORSICHT), a vendor text says table number and gives delivery the number 30 (HINWEIS).',
    mark: 'HINWEIS',
    basis: 'disagreement',
    between: ['overlays.point-type-11', 'vendor.overlays.point-types'],
    wins: 'vendor.overlays.point-types',
    consequence: "gw shows 'type 11' with both readings and derives nothing from it: a person names the stations.",
    source,
  },
  {
    id: 'disagreement.c5-kind-numbers',
    statement: 'Kinds of points and zones: numeric (BELEGT stated), as strings or mixed in vendor texts (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['overlays.zone-region-type', 'vendor.overlays.kind-json-types'],
    wins: 'overlays.zone-region-type',
    consequence: 'gw reads a number in either JSON type and keeps the original type when it writes back.',
    source,
  },
  {
    id: 'disagreement.c6-yaw-json-type',
    statement:
      'JSON type of `yaw` in overlays: usually a string (BELEGT stated), number or string in vendor texts (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['angles.overlay-yaw', 'vendor.overlays.yaw-json-type'],
    wins: 'angles.overlay-yaw',
    consequence: 'gw accepts both. The unit is degrees on both sides.',
    source,
  },
  {
    id: 'disagreement.c7-zone-kinds',
    statement: 'Zone kinds: 24 by name (BELEGT stated), 17 with a number in vendor texts (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['overlays.zone-kinds', 'vendor.overlays.region-type-count'],
    wins: 'overlays.zone-kinds',
    consequence: 'The list of the vendor is taken as incomplete: a number above 17 stays OFFEN.',
    source,
  },
  {
    id: 'disagreement.c8-undescribed-fields',
    statement:
      'Lanes have `direction` (BELEGT), as points have start and end types and icons an `iconYaw`; no vendor text describes any of them (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['overlays.lane-direction', 'vendor.overlays.fields-undescribed'],
    wins: 'overlays.lane-direction',
    consequence: 'gw carries these fields through untouched; they may belong to a map editor.',
    source,
  },
  {
    id: 'disagreement.c9-restart-loses-maps',
    statement: 'restart_service lost the maps twice (BELEGT), a vendor text names no side effect (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['chassis.restart-loses-maps', 'vendor.service.restart'],
    wins: 'chassis.restart-loses-maps',
    consequence: 'The call is guarded: backup first, an explicit flag, comparison afterwards.',
    source,
    note: 'Two states that might look like a loss, without evidence: a mapping that was never saved, and a current map set from data.',
  },
  {
    id: 'disagreement.c10-fail-reason-name',
    statement: 'Name of fail_reason 103: invalid_charge_dock (BELEGT), InvalidChargeDock in vendor texts (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['chassis.fail-reason-103', 'vendor.fail-reasons-spelling'],
    wins: 'chassis.fail-reason-103',
    consequence: 'gw compares the number and never the name.',
    source,
  },
  {
    id: 'disagreement.c11-charging-pair',
    statement:
      'A charging station is a pair of items (BELEGT stated), vendor texts link the two by name and list the second as discontinued (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['overlays.charging-pair', 'vendor.overlays.charger-partner'],
    wins: 'overlays.charging-pair',
    consequence: 'gw expects a pair and reports a missing partner.',
    source,
  },
  {
    id: 'disagreement.c12-serial-identity',
    statement:
      'The serial number is the identity (BELEGT stated), the brief device information may leave it out (HINWEIS).',
    mark: 'BELEGT',
    basis: 'disagreement',
    between: ['chassis.serial-identity', 'vendor.identity.brief-without-serial'],
    wins: 'chassis.serial-identity',
    consequence: 'gw reads the identity from GET /device/info only.',
    source,
  },
] as const satisfies readonly Disagreement<Side>[];
