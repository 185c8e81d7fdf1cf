/**
 * SSH connections to another host: TCP forwarding and remote programs, each in a channel of one connection. `openSsh`
 * reads ~/.ssh/config and known_hosts as OpenSSH does, within the limits of docs/via.md. Imported only when `--via` or
 * `--probe-from` is given, because the SSH library is large.
 */
export { openSsh } from './connection.ts';
