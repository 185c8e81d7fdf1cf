import { z } from 'zod';
import type { CloudView } from '../../cloud/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { plural } from '../../text/index.ts';
import { checkCloudLink } from '../cloud/link.ts';
import { rehearseRelease } from '../cloud/release-rehearsal.ts';
import { readCloudStatus } from '../cloud/status.ts';
import { rehearseCloudStop } from '../cloud/stop-rehearsal.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok } from '../finding.ts';
import { rollBackRelease } from '../release/rollback.ts';
import { readReleaseStatus } from '../release/status.ts';
import { type CheckContext, poll, type Toolkit } from '../toolkit.ts';
import { rehearseTunnel } from '../tunnel/rehearsal.ts';
import { conclude } from '../verdict.ts';

/** The cloud's side, played by the simulator. */
export interface SimulatedCloud {
  /** Closes the broker, or opens it again. */
  cut(on: boolean): Promise<void>;
  stop(reason: string, by: string): Promise<unknown>;
  /** Releases a package. */
  release(file: string): Promise<unknown>;
  /** Opens a tunnel to the robot. */
  openTunnel(service: string, minutes: number): Promise<{ readonly tunnelId: string }>;
  /** Requests these paths of the robot through the tunnel, as the technician's browser does. */
  browse(tunnelId: string, paths: readonly string[]): Promise<readonly SimulatedPage[]>;
  closeTunnel(tunnelId: string): Promise<void>;
  /** Payloads that the cloud received on the topic of this key, oldest first. */
  received(topic: string): Promise<readonly (string | null)[]>;
}

interface SimulatedPage {
  readonly path: string;
  /** Null: no complete answer. */
  readonly status: number | null;
}

export interface RehearsalOptions {
  readonly cloud: SimulatedCloud;
  /** The device password, with which a person on site clears the stop and reads the records of sessions. */
  readonly password: string;
  /** Makes a signed package of the given version from the running installation; returns its path. */
  readonly makePackage: (version: string) => Promise<string>;
  /** Of this installation, the base one. */
  readonly gwVersion: string;
  /** Ends the gateway and starts it again, as the service of the operating system does. */
  readonly restartGateway: () => Promise<void>;
  /** How long a state may take to come. */
  readonly timeoutMs?: number;
  /** Called before each part with what it does, and its index. */
  readonly onPart: (what: string, index: number) => void;
  readonly onFinding: (finding: Finding) => void;
}

interface Tools extends RehearsalOptions {
  readonly timeoutMs: number;
  readonly toolkit: Toolkit;
  readonly context: CheckContext;
}

/** A part: its detail when it is ok, or its findings, of which the first that is not ok counts. */
type Part = (tools: Tools) => Promise<string | readonly Finding[]>;

const POLL_MS = 100;
const CUT_FOR_MS = 3_000;
/** After it a state counts as one that never comes; a slow machine needs minutes. */
const STATE_TIMEOUT_MS = 600_000;
const SPEC = 'Core network rule';

const parts: readonly (readonly [progress: string, start: FindingStart, part: Part])[] = [
  [
    'Waiting for the cloud link',
    { id: 'cloud-link', title: 'The gateway is connected to the cloud', spec: SPEC },
    link,
  ],
  [
    'Cutting the cloud link',
    { id: 'cloud-outage', title: 'An outage of the cloud loses no message', spec: 'Events' },
    outage,
  ],
  ['Stopping from the cloud', { id: 'cloud-stop', title: 'A stop from the cloud stops the robot', spec: SPEC }, stop],
  [
    'Opening a support session',
    { id: 'cloud-support', title: 'A support session shows the read-only view', spec: 'States and transitions' },
    support,
  ],
  [
    'Releasing a version',
    { id: 'cloud-release', title: 'A release from the cloud is installed', spec: 'Versioning' },
    release,
  ],
  [
    'Going back to the version before',
    { id: 'cloud-rollback', title: 'The release is rolled back on site', spec: 'Versioning' },
    rollback,
  ],
];

/**
 * Rehearses the cloud link of the running gateway by the checks of commissioning, with the simulated cloud as the person at
 * the cloud account: connected, an outage that loses nothing, a stop, a support session, a release, its rollback. A part
 * that fails does not end the others.
 */
export async function rehearseCloud(
  toolkit: Toolkit,
  options: RehearsalOptions,
  context: CheckContext,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [index, [what, start, part]] of parts.entries()) {
    context.signal.throwIfAborted();
    options.onPart(what, index);
    const finding = await part({ toolkit, context, timeoutMs: STATE_TIMEOUT_MS, ...options }).then(
      (found) => findingOf(start, found),
      (error: unknown): Finding => {
        context.signal.throwIfAborted();
        const { message, remedy } = asGwError(error);
        return { ...start, verdict: 'wrong', detail: message, remedy };
      },
    );
    findings.push(finding);
    options.onFinding(finding);
  }
  return findings;
}

export const PARTS = parts.length;

/** The parts that are not among these findings. */
export function notRehearsed(findings: readonly Finding[]): readonly Finding[] {
  return parts.slice(findings.length).map(([, start]) => notChecked(start, 'not run'));
}

function findingOf(start: FindingStart, found: string | readonly Finding[]): Finding {
  if (typeof found === 'string') return ok(start, found);
  const verdict = conclude(found);
  const open = found.find((one) => one.verdict === verdict && verdict !== 'ok');
  if (open !== undefined) return { ...start, verdict, detail: `${open.title}: ${open.detail}`, remedy: open.remedy };
  return ok(start, found.map(({ detail }) => detail).join('; '));
}

/** Those of a check that the demo shows when all are ok; one that is not ok stays. */
function shownOf(findings: readonly Finding[], ids: readonly string[]): readonly Finding[] {
  return findings.filter(({ id, verdict }) => verdict !== 'ok' || ids.includes(id));
}

async function link({ toolkit, context, timeoutMs }: Tools): Promise<readonly Finding[]> {
  const { findings } = await checkCloudLink(toolkit, { withinMs: timeoutMs }, context);
  return shownOf(findings, ['path', 'subscriptions', 'certificate']);
}

async function stop({ cloud, toolkit, password, context, timeoutMs }: Tools): Promise<readonly Finding[]> {
  const sendStop = () => cloud.stop('Rehearsal of a stop', 'gw demo');
  const timeouts = { withinMs: timeoutMs, settledWithinMs: timeoutMs };
  const { findings } = await rehearseCloudStop(toolkit, { password, ...timeouts, sendStop }, context);
  return findings;
}

/** What the technician may see, what the read-only socket refuses, and what is behind sign-in. */
const pages = [
  { path: '/service', status: 200 },
  { path: '/anmeldung', status: 403 },
  { path: '/api/protokolle', status: 401 },
] as const;

async function support({ cloud, toolkit, password, context, timeoutMs }: Tools): Promise<readonly Finding[]> {
  let tunnelId = '';
  const person = {
    async openTunnel() {
      ({ tunnelId } = await cloud.openTunnel('web', 5));
    },
    async openPage() {
      const paths = pages.map(({ path }) => path);
      const answers = await cloud.browse(tunnelId, paths);
      const other = pages.find(({ path, status }, at) => answers[at]?.path !== path || answers[at].status !== status);
      if (other === undefined) return;
      const found = answers.find(({ path }) => path === other.path)?.status ?? 'no answer';
      throw failed(`GET ${other.path} through the tunnel: ${found} instead of ${other.status}.`, 'gw tunnel status');
    },
  };
  try {
    const timeouts = { waitS: timeoutMs / 1_000, settledWithinMs: timeoutMs };
    const { findings } = await rehearseTunnel(toolkit, { password, ...timeouts, person }, context);
    return shownOf(findings, ['opened', 'connected', 'audit']);
  } finally {
    if (tunnelId !== '') await cloud.closeTunnel(tunnelId);
  }
}

async function release({ cloud, toolkit, makePackage, context, timeoutMs }: Tools): Promise<readonly Finding[]> {
  const running = (await readCloudStatus(toolkit, {}, context)).release?.runningVersion ?? '';
  const [, kept, patch] = /^(\d+\.\d+\.)(\d+)/.exec(running) ?? [];
  if (patch === undefined) throw new GwError('INTERNAL', `'${running}' is not a version.`);
  const file = await makePackage(`${kept}${Number(patch) + 1}`);
  const options = { withinMs: timeoutMs, release: () => cloud.release(file) };
  const { findings } = await rehearseRelease(toolkit, options, context);
  return shownOf(findings, ['installed', 'reported']);
}

/** As a person on site does it, by the commands of the release folder and a restart. */
async function rollback({ toolkit, gwVersion, restartGateway, context }: Tools): Promise<string> {
  const running = async () => (await readCloudStatus(toolkit, {}, context)).release?.runningVersion ?? 'unknown';
  const before = await running();
  const { from, to } = await rollBackRelease(toolkit, { toBase: false, isConfirmed: true, gwVersion });
  if (from !== before) throw failed(`${before} ran, and ${from} was left.`, 'gw release status');
  await restartGateway();
  const after = await running();
  if (after !== to) throw failed(`${from} was rolled back to ${to}, and ${after} runs.`, 'gw release status');
  const { verdict, findings } = await readReleaseStatus(toolkit);
  const wrong = findings.find((one) => one.verdict === 'wrong');
  if (verdict === 'wrong') throw failed(`${wrong?.title}: ${wrong?.detail}`, wrong?.remedy ?? 'gw release status');
  return `${from} was left, and ${to} runs again`;
}

const telemetrySchema = z.looseObject({ id: z.string(), seq: z.int() });
const isConnected = ({ status }: CloudView) => status === 'connected';
const keptIn = ({ outbox }: CloudView) => Object.values(outbox?.kept ?? {}).reduce((sum, count) => sum + count, 0);

/** No check of commissioning makes an outage. */
async function outage({ cloud, toolkit, context, timeoutMs }: Tools): Promise<string> {
  const { site, clock } = toolkit;
  const topic = site.cloud?.topics.telemetry.replace('<serial>', site.chassis.serial) ?? '';
  const telemetry = async () =>
    (await cloud.received(topic)).map((text) => telemetrySchema.parse(JSON.parse(text ?? '')));
  const lastNumber = async () => Math.max(0, ...(await telemetry()).map(({ seq }) => seq));
  const status = () => readCloudStatus(toolkit, {}, context);
  async function until<T>(missed: string, read: () => Promise<T>, isDone: (value: T) => boolean, moreMs = 0) {
    const limits = { everyMs: POLL_MS, withinMs: timeoutMs + moreMs };
    const result = await poll(toolkit, context, limits, read, isDone);
    if (isDone(result.value)) return result;
    throw failed(`${missed}: not within ${limits.withinMs / 1_000} s.`, 'gw cloud status');
  }

  const before = await status();
  let kept = 0;
  let lastKept = 0;
  await cloud.cut(true);
  try {
    await until('the outage is not noticed', status, (now) => !isConnected(now));
    const lastReceived = await lastNumber();
    await clock.sleep(CUT_FOR_MS, context.signal);
    const keepsTelemetry = ({ outbox }: CloudView) => (outbox?.kept?.telemetry ?? 0) > 0;
    const { value } = await until('nothing was kept in the outbox', status, keepsTelemetry);
    kept = keptIn(value);
    // Numbers have no gap, so the last kept one is not above this; one above it, when an acknowledgement was lost.
    lastKept = lastReceived + (value.outbox?.kept?.telemetry ?? 0);
  } finally {
    await cloud.cut(false);
  }
  const { value: after, waitedMs } = await until(
    'the outbox was not emptied after the outage',
    status,
    (now) => isConnected(now) && (now.outbox?.acknowledged ?? 0) >= (before.outbox?.acknowledged ?? 0) + kept,
  );
  await until(
    `telemetry message ${lastKept}, the last one of the outage, was not received`,
    lastNumber,
    (last) => last >= lastKept,
    (site.cloud?.telemetryS ?? 0) * 1_000,
  );
  const messages = await telemetry();
  const ids = new Set(messages.map(({ id }) => id));
  const numbers = [...new Set(messages.map(({ seq }) => seq))].sort((one, other) => one - other);
  const first = numbers[0] ?? 0;
  const missing = (numbers.at(-1) ?? 0) - first + 1 - numbers.length;
  if (missing > 0 || ids.size !== numbers.length) {
    throw failed(`${missing} of ${numbers.length + missing} telemetry messages are missing.`, 'gw cloud outbox');
  }
  if (after.outbox?.refused !== before.outbox?.refused || after.outbox?.thinned !== before.outbox?.thinned) {
    throw failed('The outbox refused or thinned messages during the outage.', 'gw cloud outbox');
  }
  return `${plural(kept, 'message')} kept in the outbox, all received ${waitedMs} ms after the end; telemetry ${first} to ${numbers.at(-1)} without a gap`;
}

function failed(what: string, command: string): GwError {
  return new GwError('CHECK_FAILED', what, { remedy: `Run \`${command}\`, and read the log of the gateway.` });
}
