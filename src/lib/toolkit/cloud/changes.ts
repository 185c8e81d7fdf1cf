import type { CloudView } from '../../cloud/index.ts';
import { plural } from '../../text/index.ts';
import type { CloudWatchEvent } from './cloud.result.ts';

type Change = Pick<Extract<CloudWatchEvent, { event: 'change' }>, 'part' | 'detail'>;

/** What happened between two views of one gateway; null when it was restarted between them. */
export function cloudChanges(before: CloudView, after: CloudView): readonly Change[] | null {
  if (isRestarted(before, after)) return null;
  return [
    ...linkChanges(before, after),
    ...receivedChanges(before, after),
    ...outboxChanges(before, after),
    ...releaseChanges(before, after),
    ...uploadChanges(before, after),
  ];
}

/** Its counters begin anew. */
function isRestarted(before: CloudView, after: CloudView): boolean {
  if ((after.outbox?.accepted ?? 0) < (before.outbox?.accepted ?? 0)) return true;
  if ((after.link?.connects ?? 0) < (before.link?.connects ?? 0)) return true;
  return before.received !== null && after.received === null;
}

function linkChanges(before: CloudView, after: CloudView): Change[] {
  const of = (detail: string): Change => ({ part: 'link', detail });
  const [was, is] = [before.link, after.link];
  const changes: Change[] = [];
  const isNew = is?.connection && (is.connects !== was?.connects || before.status !== 'connected');
  if (was && is && is.losses > was.losses && isNew) changes.push(of('connection lost'));
  if (after.status === 'connected' && isNew && is?.connection) {
    const { host, port, alpn, tls } = is.connection;
    changes.push(of(`connected to ${host}:${port}${alpn === null ? '' : ` with ALPN ${alpn}`}, ${tls}`));
  } else if (after.status !== before.status) changes.push(of(after.detail));
  const [old, present] = [detailsOf(was), detailsOf(is)];
  for (const detail of present) if (!old.includes(detail)) changes.push(of(detail));
  // Without a connection some are unknown, and not over.
  const isKnown = is?.connection != null;
  for (const detail of old) if (isKnown && !present.includes(detail)) changes.push(of(`over: ${detail}`));
  for (const path of ['direct', 'fallback'] as const) {
    const failure = is?.failures[path] ?? null;
    const known = was?.failures[path] ?? null;
    if (failure === null || failure.at === known?.at) continue;
    // The same failure again and again is one event.
    if (failure.outcome.detail === known?.outcome.detail) continue;
    changes.push(of(`port ${failure.port}: ${failure.outcome.detail}`));
  }
  return changes;
}

function detailsOf(link: CloudView['link']): readonly string[] {
  return link?.troubles.map(({ detail }) => detail) ?? [];
}

function receivedChanges({ received: before }: CloudView, { received: after }: CloudView): Change[] {
  if (after === null) return [];
  const more = (key: 'stops' | 'releases' | 'tunnelNotifications') => after[key] - (before?.[key] ?? 0);
  const changes: Change[] = [];
  if (more('stops') > 0) changes.push({ part: 'stop', detail: `${plural(more('stops'), 'stop')} received` });
  if (more('releases') > 0) changes.push({ part: 'release', detail: 'release received' });
  if (more('tunnelNotifications') > 0) changes.push({ part: 'tunnel', detail: 'tunnel notification received' });
  for (const [reason, count] of Object.entries(after.discarded)) {
    const added = count - (before?.discarded[reason as keyof typeof after.discarded] ?? 0);
    if (added <= 0) continue;
    const last = after.lastDiscarded.find((message) => message.reason === reason);
    const where = last === undefined ? '' : ` on ${last.topic} (${last.bytes} bytes)`;
    changes.push({ part: 'discarded', detail: `${plural(added, 'message')} discarded: ${reason}${where}` });
  }
  return changes;
}

function outboxChanges({ outbox: before }: CloudView, { outbox: after }: CloudView): Change[] {
  if (after === null) return [];
  const of = (detail: string): Change => ({ part: 'outbox', detail });
  const changes: Change[] = [];
  if (after.status !== before?.status) changes.push(of(`${after.status}: ${after.detail}`));
  const refused = after.refused - (before?.refused ?? 0);
  if (refused > 0) changes.push(of(`${plural(refused, 'message')} refused`));
  const thinned = (after.thinned ?? 0) - (before?.thinned ?? after.thinned ?? 0);
  if (thinned > 0) changes.push(of(`${plural(thinned, 'telemetry message')} removed for lack of space`));
  const [was, is] = [keptOf(before), keptOf(after)];
  if (is !== null && was !== null && magnitude(is) !== magnitude(was))
    changes.push(of(`${plural(is, 'message')} kept`));
  return changes;
}

function keptOf(outbox: CloudView['outbox']): number | null {
  return outbox?.kept ? Object.values(outbox.kept).reduce((sum, count) => sum + count, 0) : null;
}

/** A few messages under way come and go; a backlog is reported when it grows or shrinks tenfold. */
function magnitude(count: number): number {
  return count < 10 ? 0 : Math.floor(Math.log10(count));
}

function releaseChanges({ release: before }: CloudView, { release: after }: CloudView): Change[] {
  const run = after?.run;
  if (!run || (run.jobId === before?.run?.jobId && run.phase === before.run.phase)) return [];
  return [
    { part: 'release', detail: `${run.toVersion}: ${run.phase}${run.detail === null ? '' : ` (${run.detail})`}` },
  ];
}

function uploadChanges({ uploads: before }: CloudView, { uploads: after }: CloudView): Change[] {
  return after.flatMap(({ name, sha256, state, detail }): Change[] => {
    const known = before.find((upload) => upload.name === name && upload.sha256 === sha256);
    if (known?.state === state) return [];
    const why = state === 'refused' && detail !== null ? ` (${detail})` : '';
    return [{ part: 'upload', detail: `${name}: ${state}${why}` }];
  });
}
