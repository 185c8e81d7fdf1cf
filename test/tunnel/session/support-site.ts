import { join } from 'node:path';
import { parseSite } from '../../../src/lib/site/index.ts';

/** Shorter than the tokens of a service, and not a word. */
export const TOKEN = 'AQGAAXj3u0Zk5Xr9withcharsof9a1realtoken2';

export interface SiteOptions {
  readonly maxMinutes?: number;
  /** YAML below `cloud:`; by default a tunnel with the services web and status. */
  readonly tunnel?: string;
}

export function siteOf(dir: string, { maxMinutes = 60, tunnel }: SiteOptions = {}) {
  const own = tunnel ?? `  tunnel: { host: tunnel.test, services: [web, status], maxMinutes: ${maxMinutes} }`;
  return parseSite(
    `name: Lobby
chassis: { host: 127.0.0.1, serial: SN0007 }
cloud:
  mqtt: { host: mqtt.test, alpn: x-test-mqtt-ca }
${own}
`,
    join(dir, 'site.yaml'),
  );
}
