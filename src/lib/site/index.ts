/**
 * The site file: what a person decided about one robot on one site. Loading checks everything at once and names
 * file, line and key of each error; secrets come from owner-only files that it names.
 */

export { calledServices, placeOf, sameHost } from './called-services.ts';
export { describeSiteSchema } from './describe.ts';
export { loadSite, parseSite } from './load.ts';
export { localSocketPath } from './local-socket.ts';
export { HEARTBEAT_PORT, READ_ONLY_PORT } from './platform-ports.ts';
export { CLOUD_REGION, type Site, siteSchema } from './schema.ts';
export { readSecret } from './secret.ts';
export { isThisMachine } from './this-machine.ts';
export { MIN_TLS_VERSION } from './tls-version.ts';
export { askedKeys, commentedSiteFile, type NewSite, refuseExisting, writeSiteFile } from './write.ts';
