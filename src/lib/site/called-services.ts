import type { SiteFile } from './schema.ts';

/** A service that the operator server forwards to; its address is its `url` in the site file. */
export interface CalledService {
  readonly id: 'building' | 'voice';
  /** Key of the site file that names it. */
  readonly key: 'operator.building.url' | 'operator.voice.url';
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The services that the forwarder calls. */
export function calledServices({ operator }: Pick<SiteFile, 'operator'>): CalledService[] {
  return (['building', 'voice'] as const).flatMap((id) => {
    const url = operator[id]?.url;
    return url === undefined ? [] : [{ id, key: `operator.${id}.url` as const, ...placeOf(url) }];
  });
}

/** Host and port of an http or https URL. Throws TypeError for other text. */
export function placeOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

/** Normal form of a host name or an address. */
export function sameHost(one: string, other: string): boolean {
  return writtenHost(one) === writtenHost(other);
}

/** Lower case, no trailing dots, and an address as `URL` writes it (127.1 is 127.0.0.1). */
export function writtenHost(host: string): string {
  const url = `http://${host.includes(':') ? `[${host}]` : host}/`;
  const name = URL.canParse(url) ? new URL(url).hostname : host.toLowerCase();
  return name.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
}
