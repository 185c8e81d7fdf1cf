import { z } from 'zod';
import { asGwError, GwError } from '../../error/index.ts';
import { plural } from '../../text/index.ts';
import type { CloudStatus } from '../cloud/cloud.result.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, ok, wrong } from '../finding.ts';
import { clearStop } from '../motion/clear.ts';
import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type RehearsalOptions, statusOf, type Tools, until } from './rehearsal-tools.ts';
import { support } from './support-rehearsal.ts';

const CONNECTED_WITHIN_MS = 15_000;
const CUT_FOR_MS = 3_000;
const STOPPED_WITHIN_MS = 3_000;
const RELEASED_WITHIN_MS = 60_000;
const SPEC = 'Core network rule';

/**
 * Rehearses the cloud link of the running gateway: connected, an outage that loses nothing, a stop, a support session, a release. Each
 * finding is measured at both ends, the gateway and the simulated cloud. A part that fails does not end the others.
 */
export async function rehearseCloud(
  toolkit: Toolkit,
  options: RehearsalOptions,
  context: CheckContext,
): Promise<readonly Finding[]> {
  const parts: readonly (readonly [FindingStart, string, (tools: Tools) => Promise<string>])[] = [
    [
      { id: 'cloud-link', title: 'The gateway is connected to the cloud', spec: SPEC },
      'Waiting for the cloud link',
      link,
    ],
    [
      { id: 'cloud-outage', title: 'An outage of the cloud loses no message', spec: 'Events' },
      'Cutting the cloud link',
      outage,
    ],
    [{ id: 'cloud-stop', title: 'A stop from the cloud stops the robot', spec: SPEC }, 'Stopping from the cloud', stop],
    [
      { id: 'cloud-support', title: 'A support session shows the read-only view', spec: 'States and transitions' },
      'Opening a support session',
      support,
    ],
    [
      { id: 'cloud-release', title: 'A release from the cloud is installed', spec: 'Versioning' },
      'Releasing a version',
      release,
    ],
  ];
  const tools: Tools = { toolkit, context, ...options };
  const findings: Finding[] = [];
  for (const [start, progress, part] of parts) {
    context.onProgress(progress);
    const finding = await part(tools).then(
      (detail) => ok(start, detail),
      (error: unknown) => {
        context.signal.throwIfAborted();
        const { message, remedy } = asGwError(error);
        return wrong(start, message, remedy);
      },
    );
    findings.push(finding);
    options.onFinding(finding);
  }
  return findings;
}

const isConnected = ({ status }: CloudStatus) => status === 'connected';

async function link(tools: Tools): Promise<string> {
  const { value } = await until(
    tools,
    'the gateway is not connected to the cloud',
    CONNECTED_WITHIN_MS,
    () => statusOf(tools),
    isConnected,
  );
  const connection = value.link?.connection;
  if (connection === undefined || connection === null) throw new GwError('INTERNAL', 'connected without a connection');
  return `${connection.host}:${connection.port}, ${connection.tls}, ${connection.filters.length} topic filters acknowledged`;
}

const telemetrySchema = z.looseObject({ id: z.string(), seq: z.int() });

async function outage(tools: Tools): Promise<string> {
  const { cloud, toolkit, context } = tools;
  const { site, clock } = toolkit;
  const topic = site.cloud?.topics.telemetry.replace('<serial>', site.chassis.serial) ?? '';
  const telemetry = async () =>
    (await cloud.received(topic)).map((text) => telemetrySchema.parse(JSON.parse(text ?? '')));
  const lastNumber = async () => Math.max(0, ...(await telemetry()).map(({ seq }) => seq));
  const before = await statusOf(tools);
  let kept = 0;
  let lastKept = 0;
  await cloud.cut(true);
  try {
    await until(
      tools,
      'the outage is not noticed',
      CONNECTED_WITHIN_MS,
      () => statusOf(tools),
      (now) => !isConnected(now),
    );
    const lastReceived = await lastNumber();
    await clock.sleep(CUT_FOR_MS, context.signal);
    const { value } = await until(
      tools,
      'nothing was kept in the outbox',
      CONNECTED_WITHIN_MS,
      () => statusOf(tools),
      ({ outbox }) => (outbox?.kept?.telemetry ?? 0) > 0,
    );
    kept = keptIn(value.outbox);
    // Numbers have no gap, so the last kept one is not above this; one above it, when an acknowledgement was lost.
    lastKept = lastReceived + (value.outbox?.kept?.telemetry ?? 0);
  } finally {
    await cloud.cut(false);
  }
  const { value: after, tookMs } = await until(
    tools,
    'the outbox was not emptied after the outage',
    CONNECTED_WITHIN_MS,
    () => statusOf(tools),
    (now) => isConnected(now) && (now.outbox?.acknowledged ?? 0) >= (before.outbox?.acknowledged ?? 0) + kept,
  );
  await until(
    tools,
    `telemetry message ${lastKept}, the last one of the outage, was not received`,
    CONNECTED_WITHIN_MS + (site.cloud?.telemetryS ?? 0) * 1_000,
    lastNumber,
    (last) => last >= lastKept,
  );
  const messages = await telemetry();
  const ids = new Set(messages.map(({ id }) => id));
  const numbers = [...new Set(messages.map(({ seq }) => seq))].sort((one, other) => one - other);
  const first = numbers[0] ?? 0;
  const missing = (numbers.at(-1) ?? 0) - first + 1 - numbers.length;
  if (missing > 0 || ids.size !== numbers.length) {
    throw new GwError('CHECK_FAILED', `${missing} of ${numbers.length + missing} telemetry messages are missing.`, {
      remedy: 'Run `gw cloud outbox`, and read the log of the gateway.',
    });
  }
  if (after.outbox?.refused !== before.outbox?.refused || after.outbox?.thinned !== before.outbox?.thinned) {
    throw new GwError('CHECK_FAILED', 'The outbox refused or thinned messages during the outage.', {
      remedy: 'Run `gw cloud outbox`, and read the log of the gateway.',
    });
  }
  return `${plural(kept, 'message')} kept in the outbox, all received ${tookMs} ms after the end; telemetry ${first} to ${numbers.at(-1)} without a gap`;
}

function keptIn(outbox: CloudStatus['outbox']): number {
  return Object.values(outbox?.kept ?? {}).reduce((sum, count) => sum + count, 0);
}

const stopSchema = z.looseObject({
  stop: z.looseObject({
    latched: z.boolean(),
    by: z.string().nullable(),
    repeated: z.looseObject({ by: z.array(z.string()) }).nullable(),
  }),
});
const STOPPED_BY = 'gw demo';

async function stop(tools: Tools): Promise<string> {
  const { cloud, toolkit, context } = tools;
  const { site, clock } = toolkit;
  const latch = async () => (await operatorAccess(toolkit, context).ask('GET', '/api/stopp', stopSchema)).stop;
  const before = await latch();
  if (before.latched) {
    throw new GwError('CHECK_FAILED', `The robot was stopped already by '${before.by}'; no stop was sent.`, {
      remedy: 'Find out the reason of that stop, and clear it with `gw motion clear`.',
    });
  }
  const beganMs = clock.monotonicMs();
  const { id } = await cloud.stop('Rehearsal of a stop', STOPPED_BY);
  const { value, tookMs } = await until(
    tools,
    'the stop is not latched',
    STOPPED_WITHIN_MS,
    latch,
    ({ latched }) => latched,
    beganMs,
  );
  assertOnlyBy(`cloud, ${STOPPED_BY}`, value);
  const records = site.cloud?.topics.records.replace('<serial>', site.chassis.serial) ?? '';
  await until(
    tools,
    'the cloud has no record of the stop',
    STOPPED_WITHIN_MS,
    () => cloud.received(records),
    (texts) => texts.some((text) => text?.includes(`"stopId":"${id}"`)),
  );
  // The stop of a person who may have seen a danger is theirs to clear.
  assertOnlyBy(`cloud, ${STOPPED_BY}`, await latch());
  const { cleared } = await clearStop(toolkit, {}, context);
  if (!cleared)
    throw new GwError('CHECK_FAILED', 'The stop was not cleared on site.', { remedy: 'Run `gw motion clear`.' });
  return `latched ${tookMs} ms after it was sent, by '${value.by}', recorded in the cloud, cleared on site`;
}

/** Throws CHECK_FAILED unless the robot is stopped by this sender alone. */
function assertOnlyBy(expected: string, { by, repeated }: z.infer<typeof stopSchema>['stop']): void {
  const other = [by, ...(repeated?.by ?? [])].find((each) => each !== expected);
  if (other === undefined) return;
  throw new GwError('CHECK_FAILED', `The robot was stopped by '${other}' meanwhile; the stop was not cleared.`, {
    remedy: 'Find out the reason of that stop, and clear it with `gw motion clear`.',
  });
}

async function release(tools: Tools): Promise<string> {
  const { cloud, toolkit } = tools;
  const running = (await statusOf(tools)).release?.runningVersion ?? '';
  const version = nextPatch(running);
  const file = await tools.makePackage(version);
  const beganMs = toolkit.clock.monotonicMs();
  const { jobId } = await cloud.release(file);
  const { value: job } = await until(
    tools,
    `the release of ${version} has not ended`,
    RELEASED_WITHIN_MS,
    () => cloud.job(jobId),
    (now) => now !== null && !['QUEUED', 'IN_PROGRESS'].includes(now.status),
  );
  if (job?.status !== 'SUCCEEDED') {
    const details = Object.entries(job?.statusDetails ?? {}).map(([key, text]) => `${key}: ${text}`);
    throw new GwError('RELEASE_REFUSED', `The release of ${version} ended as ${job?.status}. ${details.join('; ')}`);
  }
  const { value } = await until(
    tools,
    'the gateway does not report its version',
    CONNECTED_WITHIN_MS,
    () => statusOf(tools),
    (now) => now.release?.run?.phase === 'confirmed',
  );
  const now = value.release?.runningVersion;
  if (now !== version) {
    throw new GwError('RELEASE_REFUSED', `The job succeeded, and ${now} runs instead of ${version}.`);
  }
  const tookS = ((toolkit.clock.monotonicMs() - beganMs) / 1_000).toFixed(1);
  return `${running} to ${version} in ${tookS} s: signature and files verified, switched, healthy, confirmed`;
}

function nextPatch(version: string): string {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  if (patch === undefined) throw new GwError('INTERNAL', `'${version}' is not a version.`);
  return `${major}.${minor}.${Number(patch) + 1}`;
}
