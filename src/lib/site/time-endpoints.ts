import { placeOf, sameHost } from './rules.ts';
import type { SiteFile } from './schema.ts';

/** An https address whose `Date` is compared with the clock of this gateway. */
export interface TimeEndpoint {
  readonly use: 'enrolment' | 'storage' | 'time';
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly ca: { readonly path: string | undefined; readonly key: string };
}

/** Those that the site file names, each host and port once; none without `time`. */
export function timeEndpoints({ time, enrolment, cloud }: Pick<SiteFile, 'time' | 'enrolment' | 'cloud'>) {
  if (time === undefined) return [];
  const found: TimeEndpoint[] = [];
  const add = (use: TimeEndpoint['use'], url: string | undefined, path: string | undefined, key: string) => {
    if (url === undefined) return;
    const { host, port } = placeOf(url);
    if (found.some((one) => sameHost(one.host, host) && one.port === port)) return;
    found.push({ use, host, port, ca: { path, key } });
  };
  add('enrolment', enrolment?.url, enrolment?.caFile, 'enrolment.caFile');
  add('storage', cloud?.storageUrl, cloud?.caFile, 'cloud.caFile');
  for (const url of time.urls) add('time', url, time.caFile, 'time.caFile');
  return found;
}
