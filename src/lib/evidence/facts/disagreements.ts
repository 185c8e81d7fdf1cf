/** Facts that differ: the one of the specification and the one of a vendor text, what they say, and how gw handles it. */
export const disagreements = {
  'disagreement.c1-tracked-pose-unit': [
    'angles.tracked-pose-ori',
    'vendor.topic.tracked-pose-ori',
    'Unit of `ori` on /tracked_pose: degrees were measured (BELEGT), a vendor text says radians (HINWEIS).',
    'gw reads degrees. The probe judges the samples of each device: a change that radians cannot reach proves degrees, a seam of a radian range passed twice or the courses of the driving robot prove radians, and then the motion gate closes; signs that prove nothing close it until degrees are proven. Every other `ori` of the WebSocket is shown raw.',
  ],
  'disagreement.c2-authentication': [
    'chassis.no-authentication',
    'vendor.secret-header',
    'Authentication of the chassis: none at all (BELEGT stated), a vendor text asks for a Secret header (HINWEIS).',
    'gw can send a secret to a chassis that requires one and relies on none: the robot segment is the only protection.',
    'Both can hold if the caller that was observed was exempt.',
  ],
  'disagreement.c3-state-source': [
    'chassis.topics',
    'vendor.state.rest-readable',
    'Source of state: the WebSocket only (BELEGT stated), a vendor text also reads moves and current map by REST (HINWEIS).',
    'Live state comes from the topics. REST serves to look up one move that gw itself ordered.',
  ],
  'disagreement.c4-point-type-11': [
    'overlays.point-type-11',
    'vendor.overlays.point-types',
    'Point type 11: assumed to be a delivery point (VORSICHT), a vendor text says table number and gives delivery the number 30 (HINWEIS).',
    "gw shows 'type 11' with both readings and derives nothing from it: a person names the stations.",
  ],
  'disagreement.c5-kind-numbers': [
    'overlays.zone-region-type',
    'vendor.overlays.kind-json-types',
    'Kinds of points and zones: numeric (BELEGT stated), as strings or mixed in vendor texts (HINWEIS).',
    'gw reads a number in either JSON type and keeps the original type when it writes back.',
  ],
  'disagreement.c6-yaw-json-type': [
    'angles.overlay-yaw',
    'vendor.overlays.yaw-json-type',
    'JSON type of `yaw` in overlays: usually a string (BELEGT stated), number or string in vendor texts (HINWEIS).',
    'gw accepts both. The unit is degrees on both sides.',
  ],
  'disagreement.c7-zone-kinds': [
    'overlays.zone-kinds',
    'vendor.overlays.region-type-count',
    'Zone kinds: 24 by name (BELEGT stated), 17 with a number in vendor texts (HINWEIS).',
    'The list of the vendor is taken as incomplete: a number above 17 stays OFFEN.',
  ],
  'disagreement.c8-undescribed-fields': [
    'overlays.lane-direction',
    'vendor.overlays.fields-undescribed',
    'Lanes have `direction` (BELEGT), as points have start and end types and icons an `iconYaw`; no vendor text describes any of them (HINWEIS).',
    'gw carries these fields through untouched; they may belong to a map editor.',
  ],
  'disagreement.c9-restart-loses-maps': [
    'chassis.restart-loses-maps',
    'vendor.service.restart',
    'restart_service lost the maps twice (BELEGT), a vendor text names no side effect (HINWEIS).',
    'The call is guarded: backup first, an explicit flag, comparison afterwards.',
    'Two states that might look like a loss, without evidence: a mapping that was never saved, and a current map set from data.',
  ],
  'disagreement.c10-fail-reason-name': [
    'chassis.fail-reason-103',
    'vendor.fail-reasons-spelling',
    'Name of fail_reason 103: invalid_charge_dock (BELEGT), InvalidChargeDock in vendor texts (HINWEIS).',
    'gw compares the number and never the name.',
  ],
  'disagreement.c11-charging-pair': [
    'overlays.charging-pair',
    'vendor.overlays.charger-partner',
    'A charging station is a pair of items (BELEGT stated), vendor texts link the two by name and list the second as discontinued (HINWEIS).',
    'gw expects a pair and reports a missing partner.',
  ],
  'disagreement.c12-serial-identity': [
    'chassis.serial-identity',
    'vendor.identity.brief-without-serial',
    'The serial number is the identity (BELEGT stated), the brief device information may leave it out (HINWEIS).',
    'gw reads the identity from GET /device/info only.',
  ],
} as const;
