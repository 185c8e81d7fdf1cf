import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type MessageClass, messageClasses } from '../../../src/lib/cloud/outbox/message-class.ts';
import type { StoreReply, StoreRequest } from '../../../src/lib/cloud/outbox/thread/messages.ts';
import { unpackMessages } from '../../../src/lib/cloud/outbox/thread/packed.ts';
import { runStoreThread } from '../../../src/lib/cloud/outbox/thread/worker.ts';
import { runs } from '../../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-robots-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const freshPath = () => join(mkdtempSync(join(scratch, 'r-')), 'outbox.db');

const robots = ['SN1', 'SN10', 'SN"1', 'Röbot 2'] as const;
const topicOf = (serial: string, name: MessageClass) => `gw/${robots.indexOf(serial as never)}/${name}`;

/** The code of the thread in this one, by its requests and replies. */
function storeOf(path: string, serial: string) {
  let take: (request: StoreRequest) => void = () => {};
  let replied: StoreReply | null = null;
  const port = {
    on(_event: 'message', listener: (request: StoreRequest) => void) {
      take = listener;
    },
    postMessage(reply: StoreReply) {
      replied = reply;
    },
    close() {},
  };
  const topics = { recordTopic: topicOf(serial, 'record'), shadowTopic: topicOf(serial, 'shadow') };
  runStoreThread(port, { path, serial, ...topics, maxBytes: 1_000_000 });
  let ticket = 0;
  return (request: Pick<StoreRequest, 'name' | 'request'>): StoreReply => {
    ticket += 1;
    take({ ...request, ticket, atMs: ticket } as StoreRequest);
    if (replied === null) throw new Error('no reply');
    return replied;
  };
}

let ids = 0;
const append = (serial: string, classes: readonly MessageClass[]) => ({
  name: 'append' as const,
  request: {
    messages: classes.map((name) => ({
      ...{ class: name, topic: topicOf(serial, name), bodyJson: '{"a":{"serial":"SN1"}}' },
      ...{ idField: name === 'shadow' ? 'clientToken' : null, id: `id-${++ids}`, atMs: ids },
    })),
  },
});
const page = (name: MessageClass, after = -1) => ({
  name: 'page' as const,
  request: { class: name, after, maxMessages: 3, maxBytes: 10_000, recordId: `thinned-${++ids}` },
});

function sent(reply: StoreReply) {
  if (!('result' in reply.outcome) || reply.outcome.result === null || !('messages' in reply.outcome.result)) {
    throw new Error(`not read: ${JSON.stringify(reply.outcome)}`);
  }
  return unpackMessages(reply.outcome.result.messages).map(({ key, topic, payload }) => ({
    ...{ key, topic },
    json: JSON.parse(Buffer.from(payload).toString()) as { serial?: string; id?: string; clientToken?: string },
  }));
}

describe('the outbox of a gateway whose chassis was replaced', () => {
  it('keeps what was made for the one before in a file of its own, and sends nothing of it', () => {
    const path = freshPath();
    const old = storeOf(path, 'SN1');
    old(append('SN1', ['record', 'fault', 'shadow']));
    old({ name: 'close', request: null });
    const now = storeOf(path, 'SN10');
    const first = now(append('SN10', ['fault']));
    expect(first.setAside).toMatchObject({ kind: 'other-robot', salvaged: 0, reason: 'one is for gw/0/record' });
    expect(messageClasses.flatMap((name) => sent(now(page(name))).map(({ json }) => json.serial))).toEqual(['SN10']);
    now({ name: 'close', request: null });
    const aside = readdirSync(dirname(path)).filter((name) => /\.other-robot-[^w]+$/.test(name));
    expect(aside).toHaveLength(1);
    const kept = storeOf(join(dirname(path), aside[0] ?? ''), 'SN1');
    expect(messageClasses.flatMap((name) => sent(kept(page(name))).map(({ topic }) => topic))).toEqual([
      ...['gw/0/record', 'gw/0/fault', 'gw/0/shadow'],
    ]);
  });

  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        classes: fc.array(fc.constantFrom(...messageClasses), { minLength: 1, maxLength: 4 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        class: fc.constantFrom(...messageClasses),
        acknowledged: fc.nat(3),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('replace' as const),
        serial: fc.constantFrom(...robots),
        isKilled: fc.boolean(),
      }),
    },
  );

  it('never sends a message of one robot as another, over any replacements and outages, and loses none', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let path = freshPath();
        let serial: string = robots[0];
        let store = storeOf(path, serial);
        const made = new Map<string, string>();
        const acknowledged = new Set<string>();
        for (const one of steps) {
          if (one.do === 'append') {
            const request = append(serial, one.classes);
            for (const { id } of request.request.messages) made.set(id, serial);
            expect(store(request).outcome).toHaveProperty('result');
          } else if (one.do === 'send') {
            const messages = sent(store(page(one.class)));
            for (const { topic, json } of messages) {
              expect(topic.startsWith(topicOf(serial, one.class))).toBe(true);
              expect(made.get(json.id ?? json.clientToken ?? '')).toBe(serial);
            }
            const done = messages.slice(0, one.acknowledged);
            for (const { json } of done) acknowledged.add(json.id ?? json.clientToken ?? '');
            store({ name: 'remove', request: { keys: done.map(({ key }) => key) } });
          } else {
            if (one.isKilled) path = copied(path);
            else store({ name: 'close', request: null });
            serial = one.serial;
            store = storeOf(path, serial);
          }
        }
        store({ name: 'close', request: null });
        const files = readdirSync(dirname(path)).filter((name) => !/-(wal|shm)$/.test(name));
        const left = new Set(files.flatMap((name) => [...idsIn(join(dirname(path), name))]));
        for (const id of made.keys()) expect(left.has(id) || acknowledged.has(id)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});

/** What a process that is killed leaves: its files as they are. */
function copied(path: string): string {
  const to = freshPath();
  for (const name of readdirSync(dirname(path))) {
    if (!name.endsWith('-shm')) writeFileSync(join(dirname(to), name), readFileSync(join(dirname(path), name)));
  }
  return to;
}

/** The ids of the messages in a database, whosever they are. */
function idsIn(path: string): Set<string> {
  const found = new Set<string>();
  if (!existsSync(path)) return found;
  for (const serial of robots) {
    const copy = copied(path);
    const store = storeOf(join(dirname(copy), path.slice(dirname(path).length + 1)), serial);
    for (const name of messageClasses) {
      for (let after = -1; ; ) {
        const messages = sent(store(page(name, after)));
        for (const { json } of messages) found.add(json.id ?? json.clientToken ?? '');
        after = messages.at(-1)?.key ?? after;
        if (messages.length === 0) break;
      }
    }
    store({ name: 'close', request: null });
  }
  return found;
}
