import { endOfIdentity } from '../../../enrolment/index.ts';
import { type PathPlan, readSiteCa } from '../../../net/path/index.ts';
import { type Site, sameHost, timeEndpoints } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import type { KnownIdentity } from './identity.ts';

/** A path to check, with what its lines are called. */
export interface PlannedPath extends PathPlan {
  /** `mqtt-fallback`, `mqtt-direct`, `enrolment`, `storage`, `tunnel`, `time-1`. */
  readonly id: string;
  /** For people: `MQTT broker on 443`. */
  readonly title: string;
  readonly need: 'needed' | 'optional';
  readonly spec: string;
}

/** The verdict of a line with its detail, remedy and request to the IT. */
export type Outcome = Pick<NetworkLine, 'verdict' | 'detail'> & {
  readonly remedy?: string | null | undefined;
  readonly ask?: string | undefined;
};

const PATHS = 'Cloud and other network paths';

/** The cloud endpoints of the site file, needed ones first. */
export async function pathPlans({ cloud, enrolment, time }: Site, identity: KnownIdentity): Promise<PlannedPath[]> {
  const plans: PlannedPath[] = [];
  const isEnrolled = identity.kind === 'enrolled';
  const plain = { credentials: null, alpn: null, need: 'needed', spec: PATHS } as const;
  if (cloud !== undefined) {
    const { mqtt, storageUrl, tunnel } = cloud;
    const host = brokerHost(cloud, identity);
    const mqttCa = await readSiteCa(mqtt.caFile, 'cloud.mqtt.caFile');
    if (host !== null) {
      const broker = {
        ...plain,
        host,
        trusted: mqttCa?.pem ?? (isEnrolled ? identity.credentials.caPem : null),
        credentials: isEnrolled ? identity.credentials : null,
        application: 'mqtt',
      } as const;
      const [port, title] = [mqtt.fallbackPort, `MQTT broker on ${mqtt.fallbackPort}`];
      plans.push({ ...broker, id: 'mqtt-fallback', title, port, alpn: mqtt.alpn });
      if (mqtt.port !== port) {
        const direct = { id: 'mqtt-direct', title: `MQTT broker on ${mqtt.port}`, port: mqtt.port };
        plans.push({ ...broker, ...direct, need: 'optional' });
      }
    }
    const trusted = (await readSiteCa(cloud.caFile, 'cloud.caFile'))?.pem ?? 'system';
    if (storageUrl !== undefined) {
      const storage = { id: 'storage', title: 'Object storage', trusted, application: 'https' } as const;
      plans.push({ ...plain, ...endpointOf(storageUrl), ...storage });
    }
    if (tunnel !== undefined) {
      const { host, port } = tunnel;
      const support = { id: 'tunnel', title: 'Remote support tunnel', trusted, application: 'tls' } as const;
      plans.push({ ...plain, host, port, ...support });
    }
  }
  if (enrolment !== undefined) {
    plans.push({
      ...plain,
      ...endpointOf(enrolment.url),
      id: 'enrolment',
      title: 'Enrolment endpoint',
      // Used once, before delivery; an enrolled device does not need it.
      need: isEnrolled ? 'optional' : 'needed',
      trusted: (await readSiteCa(enrolment.caFile, 'enrolment.caFile'))?.pem ?? 'system',
      application: 'https',
      spec: 'Enrolment',
    });
  }
  const onlyTime = timeEndpoints({ time, enrolment, cloud }).filter(({ use }) => use === 'time');
  for (const [index, { host, port, ca }] of onlyTime.entries()) {
    plans.push({
      ...plain,
      ...{ host, port, id: `time-${index + 1}`, title: `Address for the time ${index + 1}`, need: 'optional' },
      trusted: (await readSiteCa(ca.path, ca.key))?.pem ?? 'system',
      application: 'https',
    });
  }
  return plans;
}

/** A line of the check. Left out: needed, seen from the gateway, nothing tried. */
export function networkLine(
  section: NetworkLine['section'],
  id: string,
  title: string,
  outcome: Outcome & Partial<Pick<NetworkLine, 'need' | 'seenFrom' | 'tried' | 'spec'>>,
): NetworkLine {
  const { seenFrom = 'gateway', need = 'needed', tried = null, spec = PATHS, remedy = null, ask = null } = outcome;
  const { verdict, detail } = outcome;
  return { id, title, section, seenFrom, need, tried, spec, verdict, detail, remedy, ask };
}

/** Null: the site file names none, and the device is not enrolled. */
function brokerHost({ mqtt }: NonNullable<Site['cloud']>, identity: KnownIdentity): string | null {
  return mqtt.host ?? (identity.kind === 'enrolled' ? identity.endpoint : null);
}

function endpointOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

/** The lines for endpoints that are not known. */
export function missingPlans({ cloud, enrolment }: Site, identity: KnownIdentity): NetworkLine[] {
  const isMissing = (key: string, value: unknown): Outcome[] =>
    value !== undefined
      ? []
      : [{ verdict: 'not-checked', detail: `${key} is not in the site file`, remedy: `Add ${key} to the site file.` }];
  const broker: Outcome[] =
    cloud === undefined || brokerHost(cloud, identity) !== null
      ? isMissing('cloud', cloud)
      : [
          {
            verdict: 'not-checked',
            detail: 'its host is known after the enrolment: cloud.mqtt.host is not in the site file',
            remedy: 'Enrol this device (`gw enrol`), or add cloud.mqtt.host to the site file.',
          },
        ];
  const lines = (id: string, what: string, outcomes: readonly Outcome[], need: NetworkLine['need'] = 'needed') =>
    outcomes.map((outcome) => networkLine('outward', id, `The ${what} is reachable`, { ...outcome, need }));
  return [
    ...lines('mqtt', 'MQTT broker', broker),
    ...(cloud === undefined
      ? []
      : [
          ...lines('storage', 'object storage', isMissing('cloud.storageUrl', cloud.storageUrl)),
          ...lines('tunnel', 'remote support tunnel', isMissing('cloud.tunnel', cloud.tunnel)),
        ]),
    ...lines('enrolment', 'enrolment endpoint', isMissing('enrolment', enrolment), 'optional'),
  ];
}

/** Whether this device has a usable certificate. No line when the site file has no `cloud`. */
export function identityLine({ cloud }: Pick<Site, 'cloud'>, identity: KnownIdentity, now: Date): NetworkLine[] {
  if (cloud === undefined) return [];
  const outcome = judgeIdentity(cloud, identity, now);
  return [networkLine('outward', 'identity', 'This device has its certificate', { spec: 'Enrolment', ...outcome })];
}

function judgeIdentity({ mqtt }: NonNullable<Site['cloud']>, identity: KnownIdentity, now: Date): Outcome {
  if (identity.kind === 'none') {
    return { verdict: 'not-checked', detail: 'not enrolled', remedy: 'Enrol it before delivery: gw enrol' };
  }
  if (identity.kind === 'broken') {
    return { verdict: 'wrong', detail: identity.error.message, remedy: identity.error.remedy };
  }
  const { endpoint, subject } = identity;
  if (mqtt.host !== undefined && !sameHost(endpoint, mqtt.host)) {
    return {
      verdict: 'wrong',
      detail: `enrolled for the broker ${endpoint}, but cloud.mqtt.host of the site file is ${mqtt.host}`,
      remedy: 'Correct cloud.mqtt.host, or enrol the device again: gw enrol --renew',
    };
  }
  const { status, detail, remedy } = endOfIdentity(identity.identity, now);
  if (status === 'ok') return { verdict: 'ok', detail: `${subject}. ${detail}` };
  return {
    verdict: 'wrong',
    detail: `${subject}. ${detail}`,
    remedy: `Check the clock of the gateway first (\`timedatectl\`). ${remedy ?? ''}`.trim(),
  };
}
