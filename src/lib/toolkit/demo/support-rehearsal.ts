import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { auditSessions } from '../tunnel/audit.ts';
import { readSupport } from '../tunnel/status.ts';
import { type Tools, until } from './rehearsal-tools.ts';

const SERVICE = 'web';
const MINUTES = 5;
const CONNECTED_WITHIN_MS = 10_000;
const ENDED_WITHIN_MS = 5_000;
const RECORDED_WITHIN_MS = 15_000;
/** Copy of the records that the cloud has received, beside the state folder. */
const CLOUD_COPY = 'support-sessions-of-the-cloud.jsonl';
/** What the technician may see, what the read-only socket refuses, and what is behind sign-in. */
const EXPECTED = [
  { path: '/service', status: 200 },
  { path: '/anmeldung', status: 403 },
  { path: '/api/protokolle', status: 401 },
] as const;

const recordSchema = z.looseObject({
  kind: z.literal('support-session'),
  record: z.looseObject({ kind: z.string(), session: z.string().optional() }),
});

/** Opens a tunnel in the cloud, reads the robot through it, closes it, and audits the records against the cloud's copy. */
export async function support(tools: Tools): Promise<string> {
  const { cloud, toolkit, context } = tools;
  const { site, clock } = toolkit;
  const state = () => readSupport(toolkit, {}, context);
  const before = (await state()).running;
  if (before !== null) throw failed(`session ${before.session} runs already`);
  const beganMs = clock.monotonicMs();
  const { tunnelId } = await cloud.openTunnel(SERVICE, MINUTES);
  const { value, tookMs } = await until(
    tools,
    'no session has connected to the tunnel service',
    CONNECTED_WITHIN_MS,
    state,
    ({ running }) => running?.state === 'connected',
    beganMs,
  );
  const session = value.running?.session ?? '';
  const pages = await cloud.browse(
    tunnelId,
    EXPECTED.map(({ path }) => path),
  );
  for (const [index, { path, status }] of EXPECTED.entries()) {
    const page = pages[index];
    if (page?.path !== path || page.status !== status) {
      throw failed(`GET ${path} through the tunnel: ${page?.status ?? 'no answer'} instead of ${status}`);
    }
  }
  await cloud.closeTunnel(tunnelId);
  const { value: after } = await until(
    tools,
    'the session has not ended',
    ENDED_WITHIN_MS,
    state,
    ({ running, lastEnded }) => running === null && lastEnded?.session === session,
  );
  if (after.lastEnded?.reason !== 'closed-by-cloud') {
    throw failed(`the session ended by '${after.lastEnded?.reason}', not by the cloud`);
  }
  const topic = site.cloud?.topics.records.replace('<serial>', site.chassis.serial) ?? '';
  const { value: records } = await until(
    tools,
    'the cloud has not both records of the session',
    RECORDED_WITHIN_MS,
    async () => (await cloud.received(topic)).filter((text) => text !== null).filter(isSessionRecord),
    (texts) => ['start', 'end'].every((kind) => texts.some((text) => isOf(text, kind, session))),
  );
  const copy = join(site.stateDir, '..', CLOUD_COPY);
  await replaceFile(copy, `${records.join('\n')}\n`);
  const audit = await auditSessions({
    sitePath: site.path,
    cloud: copy,
    lang: 'en',
    now: clock.wall,
    signal: context.signal,
  });
  // No log is searched here, so the audit as a whole is not decided.
  const compared = audit.checks.find(({ id }) => id === 'cloud')?.verdict;
  if (audit.local !== 'ok' || compared !== 'ok') {
    const [finding] = audit.findings;
    throw failed(`the audit of the records: ${finding?.sentence ?? audit.verdict}`, 'gw tunnel audit');
  }
  return `connected ${tookMs} ms after it was opened; page 200, sign-in 403, logs 401; audit ok: start and end recorded, and the same in the cloud`;
}

function isSessionRecord(text: string): boolean {
  return recordSchema.safeParse(JSON.parse(text)).success;
}

function isOf(text: string, kind: string, session: string): boolean {
  const { record } = recordSchema.parse(JSON.parse(text));
  return record.kind === kind && record.session === session;
}

function failed(what: string, command = 'gw tunnel status'): GwError {
  return new GwError('CHECK_FAILED', `Support session: ${what}.`, {
    remedy: `Run \`${command}\`, and read the log of the gateway.`,
  });
}
