/**
 * Going through another machine by SSH: one connection, over which dials and programs go in channels of their own.
 * `openSsh` reads the configuration of SSH and known_hosts as OpenSSH does, as far as docs/via.md says, and asks a
 * person what only a person can answer. Loaded when a `--via` or `--from` is given; the library behind it is large.
 */
export { openSsh } from './connection.ts';
