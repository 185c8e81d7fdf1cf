/**
 * Headers of every answer. Constants, because @fastify/helmet builds its configuration for each request, which costs
 * more than the rest of a forwarded read (measured).
 *
 * The referrer policy must not be `no-referrer`: a browser then sends `Origin: null` with the forms of these pages.
 * There is no Strict-Transport-Security and no upgrade-insecure-requests: the robot segment uses plain HTTP.
 */
export const securityHeaders: readonly (readonly [name: string, value: string])[] = [
  [
    'content-security-policy',
    "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

/** Media are uploaded by people: they must run no script and load nothing. */
export const mediaContentPolicy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox";
