import { type CloudView, subscribedFilters, topicsOf } from '../../cloud/index.ts';
import { endOfIdentity, judgeEnd, loadIdentity } from '../../enrolment/index.ts';
import { asGwError } from '../../error/index.ts';
import { isCertificateSound } from '../../operator/index.ts';
import { plural } from '../../text/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { readGatewayHealth } from '../gateway/health.ts';
import { type CheckContext, poll, type Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import type { CloudLinkCheck } from './cloud.result.ts';
import { isAccepting } from './outbox.ts';
import { readCloudStatus } from './status.ts';

export interface CloudLinkOptions {
  /** How long to wait for a connection, in milliseconds. */
  readonly withinMs: number;
}

const POLL_MS = 500;

type Connection = NonNullable<NonNullable<CloudView['link']>['connection']>;

/**
 * The cloud link of the running gateway: connected by which path, with all subscriptions, with the installed
 * certificate, to the broker of the enrolment. Waits for a connection. Throws OPERATOR_NOT_REACHABLE.
 */
export async function checkCloudLink(
  toolkit: Toolkit,
  { withinMs }: CloudLinkOptions,
  context: CheckContext,
): Promise<CloudLinkCheck> {
  const { value: view, waitedMs } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => {
      const now = await readCloudStatus(toolkit, {}, context);
      if (isPending(now)) context.onProgress(now.detail);
      else if (isRenewing(now)) context.onProgress('The link changes to the installed certificate.');
      return now;
    },
    (now) => !isPending(now) && !isRenewing(now),
  );
  const connection = (view.status === 'connected' && view.link?.connection) || null;
  const findings = [
    connectedFinding(view, connection),
    pathFinding(view, connection),
    subscriptionsFinding(toolkit, view, connection),
    hostFinding(view),
    await certificateFinding(toolkit, view, connection, context),
    outboxFinding(view),
  ];
  return {
    verdict: conclude(findings),
    status: view.status,
    path: connection?.path ?? null,
    host: connection?.host ?? null,
    port: connection?.port ?? null,
    tls: connection?.tls ?? null,
    fingerprintSha256: connection?.certificate.fingerprintSha256 ?? null,
    waitedMs,
    findings,
  };
}

function isPending({ status }: CloudView): boolean {
  return status === 'not-connected' || status === 'not-checked';
}

/** For seconds after `gw enrol --renew`, until the new certificate is in use or has failed. */
function isRenewing({ link }: CloudView): boolean {
  if (!link?.connection || link.installed === null || link.renewalFailure !== null) return false;
  return plain(link.installed.fingerprintSha256) !== plain(link.connection.certificate.fingerprintSha256);
}

const NOT_CONNECTED = 'not connected';

function connectedFinding(view: CloudView, connection: Connection | null): Finding {
  const { status, detail, remedy } = view;
  const start: FindingStart = {
    id: 'connected',
    title: 'The gateway is connected to the cloud',
    spec: 'Cloud and other network paths',
  };
  if (connection !== null) {
    const trouble = troubleFinding(start, view, ['stop-not-saved', 'no-puback']);
    return trouble ?? ok(start, `${connection.host}:${connection.port}, since ${connection.since}`);
  }
  if (status === 'not-checked') return notChecked(start, detail, remedy);
  return wrong(start, detail, remedy ?? 'See `gw cloud status` and run `gw network check` on the gateway.');
}

function pathFinding({ link }: CloudView, connection: Connection | null): Finding {
  const start: FindingStart = { id: 'path', title: 'Path to the broker', spec: 'Cloud and other network paths' };
  if (connection === null) return notChecked(start, NOT_CONNECTED);
  const { path, port, alpn, tls } = connection;
  if (path === 'direct') return ok(start, `port ${port}, ${tls}`);
  const failure = link?.failures.direct;
  const why = failure ? `; port ${failure.port}: ${failure.outcome.detail}` : '';
  return ok(start, `port ${port} with ALPN ${alpn ?? 'none'}, ${tls}${why}`);
}

type Trouble = NonNullable<CloudView['link']>['troubles'][number];

/** The first trouble of these kinds as a finding; null: the link has none of them. */
function troubleFinding(start: FindingStart, { link }: CloudView, kinds: readonly Trouble['kind'][]): Finding | null {
  const trouble = link?.troubles.find(({ kind }) => kinds.includes(kind));
  return trouble === undefined ? null : wrong(start, trouble.detail, trouble.remedy ?? 'See `gw cloud status`.');
}

function subscriptionsFinding({ site }: Toolkit, view: CloudView, connection: Connection | null): Finding {
  const start: FindingStart = {
    id: 'subscriptions',
    title: 'The broker accepted every subscription of this robot',
    spec: 'Core network rule',
  };
  if (connection === null || site.cloud === undefined) return notChecked(start, NOT_CONNECTED);
  const wanted = subscribedFilters(topicsOf(site.cloud.topics, site.chassis.serial));
  const { filters } = connection;
  const missing = wanted.filter((filter) => !filters.includes(filter));
  const others = filters.filter((filter) => !wanted.includes(filter));
  if (missing.length + others.length > 0) {
    const found = [
      ...missing.map((filter) => `${filter} is missing`),
      ...others.map((filter) => `${filter} is not of it`),
    ];
    return wrong(
      start,
      `not those of this site file: ${found.join(', ')}`,
      'Restart `gw serve`, which reads the site file at its start.',
    );
  }
  const trouble = troubleFinding(start, view, ['qos-0']);
  return trouble ?? ok(start, `${plural(filters.length, 'topic filter')} of ${site.chassis.serial} acknowledged`);
}

function hostFinding(view: CloudView): Finding {
  const start: FindingStart = { id: 'host', title: 'The broker is that of the enrolment', spec: 'Enrolment' };
  const { link } = view;
  if (link === null) return notChecked(start, 'the gateway has no link');
  const trouble = troubleFinding(start, view, ['host-difference', 'region-difference']);
  if (trouble !== null) return trouble;
  return link.connection === null ? notChecked(start, NOT_CONNECTED) : ok(start, link.connection.host);
}

const RENEW = 'Run `gw enrol --renew` on the gateway.';

/** After `gw enrol --renew` a link may still use the certificate before. */
async function certificateFinding(
  toolkit: Toolkit,
  view: CloudView,
  connection: Connection | null,
  context: CheckContext,
): Promise<Finding> {
  const { site, ssh, clock } = toolkit;
  const start: FindingStart = {
    id: 'certificate',
    title: 'The link uses the installed certificate',
    spec: 'Authentication',
  };
  if (connection === null) return notChecked(start, NOT_CONNECTED);
  const { fingerprintSha256, notAfter } = connection.certificate;
  const shown = `${plain(fingerprintSha256).slice(0, 16)}…, valid until ${notAfter}`;
  const endMs = Date.parse(notAfter);
  if (Number.isNaN(endMs)) return notChecked(start, `${shown}: not a time`);
  const end = judgeEnd([{ ca: null, fromMs: 0, toMs: endMs }], clock.wall());
  if (end.status !== 'ok') return wrong(start, `${shown}. ${end.detail}`, end.remedy ?? RENEW);
  // The link knows these also where the installed certificate cannot be read.
  const trouble = troubleFinding(start, view, ['renewal-failed', 'identity-broken', 'broker-ca-ending']);
  if (trouble !== null) return trouble;
  const judge = (installed: { readonly fingerprintSha256: string }) =>
    plain(installed.fingerprintSha256) === plain(fingerprintSha256)
      ? ok(start, shown)
      : wrong(start, `${shown}; another one is installed`, 'Restart `gw serve`, and report the difference.');
  // The files of another machine are read by its own gateway.
  if (ssh !== undefined) {
    const seen = view.link?.installed ?? null;
    if (seen === null) return notChecked(start, `${shown}; the gateway shows no installed one`);
    const same = judge(seen);
    const { certificate } = await readGatewayHealth(toolkit, {}, context);
    return same.verdict !== 'ok' || isCertificateSound(certificate)
      ? same
      : wrong(start, `${shown}. ${certificate?.detail}`, certificate?.remedy ?? RENEW);
  }
  if (site.enrolment === undefined) return notChecked(start, `${shown}; no enrolment in the site file`);
  const installed = await loadIdentity(site.enrolment.identityDir).catch((error: unknown) => asGwError(error));
  if (installed === null) return wrong(start, `${shown}; none is installed`, 'Run `gw enrol` on the gateway.');
  if (installed instanceof Error) return wrong(start, installed.message, installed.remedy);
  const same = judge(installed.certificate);
  // A CA above the certificate may end before it.
  const whole = endOfIdentity(installed, clock.wall());
  return same.verdict !== 'ok' || whole.status === 'ok'
    ? same
    : wrong(start, `${shown}. ${whole.detail}`, whole.remedy ?? RENEW);
}

function plain(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function outboxFinding({ outbox }: CloudView): Finding {
  const start: FindingStart = {
    id: 'outbox',
    title: 'The outbox accepts messages and holds none back',
    spec: 'Events',
  };
  if (outbox === null) return notChecked(start, 'the gateway has no outbox');
  const { status, detail, remedy } = outbox;
  if (isAccepting(outbox)) return ok(start, detail);
  const next = remedy ?? 'See `gw cloud outbox`.';
  return status === 'not-open' ? notChecked(start, detail, next) : wrong(start, detail, next);
}
