/**
 * Ports fixed by the platform; those that a site file may change have their default in the schema.
 * The operator module binds its read-only socket by a constant of its own, independent of this one.
 */

/** Of the read-only socket, TCP on loopback. @source specification, 'Operator server' (BELEGT stated) */
export const READ_ONLY_PORT = 5174;

/** Of the heartbeat between gateways, UDP. @source specification, 'Cloud and other network paths' (BELEGT stated) */
export const HEARTBEAT_PORT = 45301;
