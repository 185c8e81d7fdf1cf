/**
 * Ports that the platform fixes and no site file moves; what a site file may choose has its default in the schema.
 * The operator room binds its read-only socket by a constant of its own, and does not ask here.
 */

/** Of the read-only socket, TCP on loopback. @source specification, 'Operator server' (BELEGT) */
export const READ_ONLY_PORT = 5174;

/** Of the heartbeat between gateways, UDP. @source specification, 'Cloud and other network paths' (BELEGT) */
export const HEARTBEAT_PORT = 45301;
