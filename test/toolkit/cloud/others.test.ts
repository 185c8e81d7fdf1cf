import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type MessageClass, messageClasses } from '../../../src/lib/cloud/outbox/message-class.ts';
import { setAside } from '../../../src/lib/cloud/outbox/store/set-aside.ts';
import { openStore } from '../../../src/lib/cloud/outbox/store/store.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { readOthers } from '../../../src/lib/toolkit/cloud/others.ts';
import { runs } from '../../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-cloud-others-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const fresh = () => mkdtempSync(join(scratch, 'o-'));
const now = new Date('2026-11-30T12:00:00.000Z');
const siteOf = (stateDir: string, serial: string) => ({ stateDir, chassis: { serial } as Site['chassis'] });

interface Given {
  readonly class: MessageClass;
  readonly text: string;
  readonly atMs: number;
}

/** Messages of a robot in an outbox; those of the shadow name no robot, except in their topic. */
function fill(path: string, serial: string, messages: readonly Given[]): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const topics = { recordTopic: `gw/${serial}/record`, shadowTopic: `gw/${serial}/shadow` };
  const store = openStore({ path, serial, maxBytes: 8_000_000, ...topics });
  const made = messages.map(({ class: kind, text, atMs }, index) => ({
    ...{ class: kind, topic: `gw/${serial}/${kind}`, bodyJson: JSON.stringify({ text }), id: `${serial}-${index}` },
    ...{ idField: kind === 'shadow' ? 'clientToken' : null, atMs },
  }));
  if (made.length > 0) store.append(made);
  store.close();
}

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);

describe('messages of other robots', () => {
  it('are exported each once, as they would have been sent, and stay where they are', {
    tags: 'property',
  }, async () => {
    const message = fc.record({
      class: fc.constantFrom(...messageClasses),
      text: fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed()),
      atMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 20 }), fc.boolean(), async (messages, isInUse) => {
        const stateDir = fresh();
        // By a claim, or set aside by the outbox itself where the claim was late.
        const inUse = join(stateDir, 'cloud/outbox/outbox.db');
        const path = isInUse ? inUse : join(stateDir, 'robots/SN-6/cloud/outbox/outbox.db');
        fill(path, 'SN-6', messages);
        const robot = { serial: 'SN-7', shadowTopic: 'gw/SN-7/shadow' };
        if (isInUse)
          setAside({ ...robot, path, maxBytes: 8_000_000, kind: 'other-robot', reason: 'x', atMs: 1, lastSeqs: [] });
        const before = readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).toSorted();
        const out = join(fresh(), 'out.jsonl');
        const isNamed = !isInUse || messages.some((one) => one.class !== 'shadow');
        const read = readOthers({ site: siteOf(stateDir, 'SN-7'), exported: { serial: 'SN-6', out }, now });
        if (!isNamed) return void (await expect(read).rejects.toMatchObject({ code: 'USAGE' }));
        const { verdict, robots, exported } = await read;
        const times = messages.map(({ atMs }) => atMs);
        const ends = { oldest: Math.min(...times), newest: Math.max(...times) };
        expect(robots).toMatchObject([
          {
            ...{ serial: 'SN-6', count: messages.length },
            ...{ oldest: new Date(ends.oldest).toISOString(), newest: new Date(ends.newest).toISOString() },
          },
        ]);
        expect([verdict, exported?.count, statSync(out).mode & 0o777]).toEqual(['ok', messages.length, 0o600]);
        const shown = linesOf(out).map(({ topic, payload = '', at, serial }) => {
          return [topic, (JSON.parse(payload) as Record<string, string>).text, at, serial].join('|');
        });
        const wanted = messages.map(({ class: kind, text, atMs }) =>
          [`gw/SN-6/${kind}`, text, new Date(atMs).toISOString(), 'SN-6'].join('|'),
        );
        expect(shown.toSorted()).toEqual(wanted.toSorted());
        expect(readdirSync(stateDir, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(before);
      }),
      { numRuns: runs(100) },
    );
  });

  it('are none of this robot, whose own outbox is in use', async () => {
    const stateDir = fresh();
    fill(join(stateDir, 'cloud/outbox/outbox.db'), 'SN-7', [{ class: 'record', text: 'x', atMs: 1 }]);
    const read = await readOthers({ site: siteOf(stateDir, 'SN-7'), exported: null, now });
    expect(read).toEqual({ verdict: 'ok', robots: [], unread: [], exported: null });
  });

  it('are wrong where a file cannot be read whole, and the others are listed all the same', async () => {
    const stateDir = fresh();
    const of = (serial: string) => join(stateDir, `robots/${serial}/cloud/outbox/outbox.db`);
    const many = Array.from({ length: 60 }, (_, at) => ({
      class: 'record' as const,
      text: 'x'.repeat(1_000),
      atMs: at,
    }));
    for (const serial of ['SN-4', 'SN-5', 'SN-6']) fill(of(serial), serial, many);
    writeFileSync(of('SN-4'), 'no database');
    const bytes = readFileSync(of('SN-5'));
    bytes.fill(0xff, 36_864, 40_960);
    writeFileSync(of('SN-5'), bytes);
    const read = await readOthers({ site: siteOf(stateDir, 'SN-7'), exported: null, now });
    expect(read.verdict).toBe('wrong');
    expect(read.unread.map(({ path }) => path)).toEqual([of('SN-4'), of('SN-5')]);
    expect(read.robots.find(({ serial }) => serial === 'SN-6')?.count).toBe(60);
    const readable = read.robots.find(({ serial }) => serial === 'SN-5')?.count ?? 0;
    expect([readable > 0, readable < 60]).toEqual([true, true]);
  });

  it('are not said to be none where the state folder is not there, as on a disk that is not mounted', async () => {
    const stateDir = join(fresh(), 'not-mounted');
    const read = await readOthers({ site: siteOf(stateDir, 'SN-7'), exported: null, now });
    expect(read).toMatchObject({ verdict: 'wrong', robots: [], unread: [{ path: stateDir }] });
  });

  it('replace no file', async () => {
    const stateDir = fresh();
    fill(join(stateDir, 'robots/SN-6/cloud/outbox/outbox.db'), 'SN-6', [{ class: 'record', text: 'x', atMs: 1 }]);
    const out = join(fresh(), 'out.jsonl');
    writeFileSync(out, 'mine');
    const read = readOthers({ site: siteOf(stateDir, 'SN-7'), exported: { serial: 'SN-6', out }, now });
    await expect(read).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(readFileSync(out, 'utf8')).toBe('mine');
  });
});
