/**
 * Headers of every answer. Constants of our own, because @fastify/helmet builds its configuration anew on each
 * request, which costs more than all the rest of a forwarded read (measured).
 *
 * The referrer policy must not be `no-referrer`: a browser then sends `Origin: null` with our own forms.
 * There is no Strict-Transport-Security and no upgrade-insecure-requests: the robot segment speaks plain HTTP.
 */
export const securityHeaders: readonly (readonly [name: string, value: string])[] = [
  [
    'content-security-policy',
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['referrer-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

/** Media come from people: whatever they hold, it runs no script and reaches nothing. */
export const mediaContentPolicy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox";
