/**
 * The site file: the configuration of one robot on one site. Loading reports all errors with file, line and key;
 * secrets are read from owner-only files that it names.
 */

export { CLOUD_REGION, MIN_TLS_VERSION } from './cloud-schema.ts';
export { type AgreedDevice, agreedDevices } from './devices.ts';
export { editSiteFile, type SiteEdit } from './edit.ts';
export { regionOfHost } from './host-region.ts';
export { host as hostKey, httpUrl as httpUrlKey, isTimeZone, port as portKey } from './key-types.ts';
export { loadSite, parseSite } from './load.ts';
export { COMMAND_AGENT, localSocketPath } from './local-socket.ts';
export { mapMark, mapOfPlace, mapsOfPlaces, type PlaceMap } from './place-map.ts';
export { claimStateWithin, openClaim, otherRobots } from './robot-state.ts';
export {
  HEARTBEAT_PORT,
  isThisMachine,
  placeOf,
  READ_ONLY_PORT,
  sameHost,
  timeZoneOf,
} from './rules.ts';
export { type Site, siteSchema } from './schema.ts';
export { isAbsentCredential, isCredential, readSecret } from './secret.ts';
export { type TimeEndpoint, timeEndpoints } from './time-endpoints.ts';
export { namesOf, titleOf } from './title-rules.ts';
export { resolveTemplate, type TopicKey, topicKeys, topicUses } from './topic-uses.ts';
export {
  askedKeys,
  commentedSiteFile,
  describeSiteSchema,
  type NewSite,
  refuseExisting,
  type SeenChassis,
  type SeenPoint,
  writeSiteFile,
} from './write.ts';
