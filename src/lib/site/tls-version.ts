/**
 * Minimum TLS version of every outgoing connection. Set explicitly, because the default of Node can be lowered from
 * outside (`NODE_OPTIONS=--tls-min-v1.0`). Project decision; TLS 1.0 and 1.1 are deprecated.
 * @source RFC 8996
 */
export const MIN_TLS_VERSION = 'TLSv1.2';
