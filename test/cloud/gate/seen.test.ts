import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../../../src/lib/cloud/gate/gate.ts';
import { createSeen, DELIVERED_AFTER_MS, MAX_SEEN, type Seen } from '../../../src/lib/cloud/gate/seen.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { runs } from '../../properties.ts';
import { settled } from '../../story/in-flight.ts';
import { contextOf, messageOf, topics } from './context.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-seen-'));
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(dir, { recursive: true, force: true });
});

const path = () => join(dir, 'state', 'cloud-seen.json');
/** A stop of this content, of QoS 0. */
const stop = (content: string) =>
  ({ kind: 'stop', stop: { id: 'a1' }, form: 'documented', content, delivery: null, isContentKnown: false }) as const;
const content = 'c'.repeat(64);
/** One that was delivered under this packet identifier. */
const delivered = (packetId: number) => ({ ...stop(content), delivery: `${packetId}-${content}` });
const notification = (clientAccessToken: string): Parameters<Seen['add']>[0] => ({
  kind: 'tunnel-notification',
  notification: { clientAccessToken, clientMode: 'destination', region: 'r', services: ['A'] },
  isRepeated: false,
});
const release = (jobId: string, executionNumber: number) =>
  ({
    kind: 'release',
    execution: { jobId, status: 'QUEUED', queuedAt: 1, lastUpdatedAt: 1, versionNumber: 1, executionNumber },
  }) as const;

async function opened(clock = createFakeClock({ settled })) {
  const seen = createSeen({ stateDir: join(dir, 'state'), clock, log: silentLog });
  await seen.load();
  return seen;
}

describe('ids of accepted messages', () => {
  it('outlive the process, for its owner only and without the access token', async () => {
    const first = await opened();
    expect(first.view().status).toBe('saved');
    first.add(stop('a'));
    first.add(notification('secret-token'));
    expect(first.hasSeenStop('a')).toBe(true);
    expect(first.view().status).toBe('saving');
    await first.settled();
    expect(first.view().status).toBe('saved');
    const second = await opened();
    expect(second.hasSeenStop('a')).toBe(true);
    expect(second.hasSeenStop('b')).toBe(false);
    expect(second.hasSeenNotification('secret-token')).toBe(true);
    expect(readFileSync(path(), 'utf8')).not.toContain('secret-token');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dir, 'state'))).toEqual(['cloud-seen.json']);
  });

  it('make a retained and a redelivered stop a duplicate after a restart, and no new one', async () => {
    const first = await opened();
    const given = decide(messageOf(topics.stop, { id: 'a' }), contextOf());
    if (given.kind !== 'stop') throw new Error('not a stop');
    first.add(given);
    await first.settled();
    const again = (flags: object) => decide(messageOf(topics.stop, { id: 'a' }, flags), contextOf(second)).kind;
    const second = await opened();
    expect([{ retain: true }, { dup: true }, {}].map(again)).toEqual(['discard', 'discard', 'stop']);
  });

  it('of a delivery outlive the process, until the broker knows that it was acknowledged', async () => {
    const first = await opened();
    first.add(delivered(7));
    await first.settled();
    const clock = createFakeClock({ settled });
    const second = await opened(clock);
    const known = () => [second.hasSeenDelivery(`7-${content}`), second.hasSeenDelivery(`8-${content}`)];
    expect(known()).toEqual([true, false]);
    await clock.advance(DELIVERED_AFTER_MS);
    // Not connected, or not for long enough: the acknowledgement may have been lost.
    second.forgetDelivered(0);
    second.forgetDelivered(DELIVERED_AFTER_MS - 1);
    expect(known()).toEqual([true, false]);
    second.add(delivered(8));
    second.forgetDelivered(DELIVERED_AFTER_MS);
    expect(known()).toEqual([false, true]);
    expect(second.hasSeenStop(content)).toBe(true);
    await second.settled();
    const third = await opened();
    expect([third.hasSeenDelivery(`7-${content}`), third.hasSeenDelivery(`8-${content}`)]).toEqual([false, true]);
  });

  it('of deliveries end with the session, also while the file is read', async () => {
    const first = await opened();
    first.add(delivered(7));
    await first.settled();
    const second = await opened();
    second.forgetSession();
    expect([second.hasSeenDelivery(`7-${content}`), second.hasSeenStop(content)]).toEqual([false, true]);
    await second.settled();
    const deliveries = (): string[] => JSON.parse(readFileSync(path(), 'utf8')).deliveries;
    expect(deliveries()).toEqual([]);
    second.add(delivered(7));
    await second.settled();
    const third = createSeen({ stateDir: join(dir, 'state'), clock: createFakeClock(), log: silentLog });
    const loading = third.load();
    third.forgetSession();
    await loading;
    expect(third.hasSeenDelivery(`7-${content}`)).toBe(false);
    await third.settled();
    // Another run must not take them for those of the new session.
    expect(deliveries()).toEqual([]);
  });

  it('of deliveries are limited in number', async () => {
    const seen = await opened();
    for (let id = 1; id <= MAX_SEEN + 1; id += 1) seen.add(delivered(id));
    expect([1, 2, MAX_SEEN + 1].map((id) => seen.hasSeenDelivery(`${id}-${content}`))).toEqual([false, true, true]);
  });

  it('are read from the file of an earlier version, which has no deliveries', async () => {
    mkdirSync(join(dir, 'state'), { mode: 0o700 });
    writeFileSync(path(), JSON.stringify({ format: 'gw/cloud-seen/1', stops: ['a'], notifications: [] }), {
      mode: 0o600,
    });
    const seen = await opened();
    expect([seen.hasSeenStop('a'), seen.view().status]).toEqual([true, 'saved']);
  });

  it('of job executions end with the process, since the release agent keeps what was done', async () => {
    const first = await opened();
    first.add(release('j1', 1));
    await first.settled();
    expect(first.hasSeenExecution('j1', 1)).toBe(true);
    expect(first.hasSeenExecution('j1', 11)).toBe(false);
    expect((await opened()).hasSeenExecution('j1', 1)).toBe(false);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('are limited in number: the least recently received id is removed first', async () => {
    const seen = await opened();
    for (let i = 0; i < MAX_SEEN; i += 1) seen.add(stop(`s${i}`));
    seen.add(stop('s0'));
    seen.add(stop('more'));
    await seen.settled();
    const next = await opened();
    expect(['s0', 's1', 's2', 'more'].map(next.hasSeenStop)).toEqual([true, false, true, true]);
    expect(JSON.parse(readFileSync(path(), 'utf8')).stops).toHaveLength(MAX_SEEN);
  });

  it('that were accepted while the file is read are kept beside its own', async () => {
    const first = await opened();
    first.add(stop('old'));
    await first.settled();
    const second = createSeen({ stateDir: join(dir, 'state'), clock: createFakeClock(), log: silentLog });
    const loading = second.load();
    second.add(stop('new'));
    await loading;
    second.add(stop('later'));
    await second.settled();
    const third = await opened();
    expect(['old', 'new', 'later'].map(third.hasSeenStop)).toEqual([true, true, true]);
  });

  it.each([
    ['an empty file', ''],
    ['a cut file', '{"format":"gw/cloud-seen/1","stops":["a"'],
    ['another format', '{"format":"gw/cloud-seen/2","stops":["a"],"notifications":[]}'],
    ['ids that are numbers', '{"format":"gw/cloud-seen/1","stops":[1],"notifications":[]}'],
    [
      'a million ids',
      JSON.stringify({ format: 'gw/cloud-seen/1', stops: Array(100_000).fill('a'), notifications: [] }),
    ],
  ])('with %s: none is known, which prevents no stop, and the view says so', async (_, text) => {
    mkdirSync(join(dir, 'state'), { mode: 0o700 });
    writeFileSync(path(), text);
    const seen = await opened();
    expect(seen.hasSeenStop('a')).toBe(false);
    expect(seen.view()).toMatchObject({ status: 'failing', detail: expect.stringContaining(path()) });
    seen.add(stop('b'));
    await seen.settled();
    expect(seen.view().status).toBe('saved');
    expect((await opened()).hasSeenStop('b')).toBe(true);
  });

  it('in a folder that others may write to are not read: they could contain the id of the next stop', async () => {
    const first = await opened();
    first.add(stop('a'));
    await first.settled();
    chmodSync(join(dir, 'state'), 0o777);
    const seen = await opened();
    expect(seen.hasSeenStop('a')).toBe(false);
    expect(seen.view().status).toBe('failing');
  });

  it('that cannot be written hold in memory, and are written as soon as that is possible', async () => {
    const clock = createFakeClock({ settled });
    // A file in place of the folder: no user can write there.
    writeFileSync(join(dir, 'state'), '');
    const seen = await opened(clock);
    seen.add(stop('a'));
    seen.add(stop('b'));
    await clock.advance(0);
    // The first attempt has failed, and the next one is due.
    expect(clock.pending).toBe(1);
    expect(seen.view().status).toBe('failing');
    expect(seen.view().detail).toContain('counts as new');
    expect(seen.hasSeenStop('a')).toBe(true);
    rmSync(join(dir, 'state'));
    await clock.advance(10_000);
    expect(seen.view().status).toBe('saved');
    const next = await opened();
    expect(['a', 'b'].map(next.hasSeenStop)).toEqual([true, true]);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('of a flood of stops are written once a second', async () => {
    const clock = createFakeClock({ settled });
    const seen = await opened(clock);
    seen.add(stop('first'));
    await clock.advance(0);
    expect(seen.view().status).toBe('saved');
    const { ino, mtimeNs } = statSync(path(), { bigint: true });
    for (let i = 0; i < 100; i += 1) seen.add(stop(`s${i}`));
    await clock.advance(900);
    expect(statSync(path(), { bigint: true })).toMatchObject({ ino, mtimeNs });
    expect(seen.view().status).toBe('saving');
    await clock.advance(100);
    expect(seen.view().status).toBe('saved');
    expect(JSON.parse(readFileSync(path(), 'utf8')).stops).toHaveLength(101);
  });

  it('survive any content of the file', { tags: 'property' }, async () => {
    mkdirSync(join(dir, 'state'), { mode: 0o700 });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array(),
          fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
        ),
        async (bytes) => {
          writeFileSync(path(), bytes);
          const seen = await opened();
          expect(seen.hasSeenStop('a')).toBe(false);
          expect(seen.view().status).toBe('failing');
        },
      ),
      { numRuns: runs(30) },
    );
  });
});
