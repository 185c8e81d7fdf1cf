import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/lib/cloud/gate/gate.ts';
import { inboundTopicOf } from '../../../src/lib/cloud/gate/inbound-topic.ts';
import { discardReasons, type GateContext, type InboundMessage } from '../../../src/lib/cloud/gate/model.ts';
import { contextOf, messageOf, serial, topics, withRequest } from './context.ts';

const token = '00000000-0000-4000-8000-000000000000';
const page = readFileSync(new URL('../../../docs/cloud.md', import.meta.url), 'utf8');
const section = /^## What gw accepts\n([\s\S]*?)^## /m.exec(page)?.[1] ?? '';
const rows = section
  .slice(section.indexOf('| Topic | State |'))
  .split('\n')
  .slice(2)
  .filter((line) => line.startsWith('|'))
  .map((line) => {
    const [topic = '', state = '', payload = '', decision = ''] = line.split('|').slice(1, -1);
    return { topic: code(topic), state: state.trim(), payload: code(payload), decision: decision.trim() };
  });

function code(cell: string): string {
  return cell
    .trim()
    .replaceAll('`', '')
    .replace('…', `gw/${serial}`)
    .replaceAll('<serial>', serial)
    .replaceAll('<token>', token);
}

const received: Partial<GateContext> = {
  ...{ hasSeenStop: () => true, hasSeenDelivery: () => true },
  ...{ hasSeenNotification: () => true, hasSeenExecution: () => true },
};

/** The state of a row as a message and a context. Throws for a state that this test does not know. */
function setUp({ topic, state, payload }: { topic: string; state: string; payload: string }): {
  message: InboundMessage;
  context: Partial<GateContext>;
} {
  const message = messageOf(topic, payload);
  const nothing = { message, context: {} };
  const requestOn = (requestTopic: string, of: 'pending' | 'ended' | 'answered') => {
    const kind = inboundTopicOf(topic, topics);
    if (kind?.kind !== 'answer') throw new Error(`${topic} is no topic of an answer`);
    return { message, context: withRequest(token, { kind: kind.request, topic: requestTopic, state: of }) };
  };
  const own = () => {
    const kind = inboundTopicOf(topic, topics);
    return kind?.kind === 'answer' ? kind.requestTopic : '';
  };
  switch (state) {
    case '':
    case 'no request':
      return nothing;
    case 'retained':
      return { ...nothing, message: { ...message, retain: true } };
    case 'received before':
      return { ...nothing, context: received };
    case 'retained, received before':
      return { message: { ...message, retain: true }, context: received };
    case 'delivered again':
      return { message: { ...message, dup: true }, context: received };
    case 'delivered again, not received before':
      return { ...nothing, message: { ...message, dup: true } };
    case '200000 bytes, not kept':
      return { ...nothing, message: { ...message, oversizedBytes: 200_000 } };
    case 'not UTF-8':
      return { ...nothing, message: messageOf(topic, new Uint8Array([0xff, ...message.payload])) };
    case '17 levels':
      return { ...nothing, message: messageOf(topic, `{"id":"a1","x":${'['.repeat(16)}${']'.repeat(16)}}`) };
    case 'request pending':
      return requestOn(own(), 'pending');
    case 'request ended':
      return requestOn(own(), 'ended');
    case 'request answered':
      return requestOn(own(), 'answered');
  }
  const bytes = /^(\d+) bytes$/.exec(state)?.[1];
  if (bytes !== undefined) return { ...nothing, message: messageOf(topic, payload.padEnd(Number(bytes), ' ')) };
  const other = /^request pending for (.*)$/.exec(state)?.[1];
  if (other !== undefined) return requestOn(code(other), 'pending');
  throw new Error(`unknown state '${state}'`);
}

function decisionText(message: InboundMessage, context: Partial<GateContext>): string {
  const decision = decide(message, contextOf(context));
  if (decision.kind === 'discard') return `discard: \`${decision.reason}\``;
  const repeated = decision.kind === 'tunnel-notification' && decision.isRepeated ? ', repeated' : '';
  return `${decision.kind.replace('-', ' ')}${repeated}`;
}

describe("the table of docs/cloud.md, 'What gw accepts'", () => {
  it.each(rows)('$topic, $state, $payload: $decision', (row) => {
    const { message, context } = setUp(row);
    expect(decisionText(message, context)).toBe(row.decision);
  });

  it('has a row for every decision and every reason', () => {
    const decisions = new Set(rows.map(({ decision }) => decision));
    const all = [
      ...['stop', 'release', 'tunnel notification', 'tunnel notification, repeated', 'answer'],
      ...discardReasons.map((reason) => `discard: \`${reason}\``),
    ];
    expect([...decisions].sort()).toEqual(all.sort());
  });

  it('has a row for every subscribed topic', () => {
    const kinds = (topic: string) => {
      const kind = inboundTopicOf(topic, topics);
      return kind?.kind === 'answer' ? `${kind.request} ${kind.outcome}` : kind?.kind;
    };
    const shown = new Set(rows.map(({ topic }) => kinds(topic)));
    for (const kind of ['stop', 'tunnel-notification', 'notify-next', 'storage answer']) expect(shown).toContain(kind);
    for (const request of ['job-start', 'job-get', 'job-update', 'shadow-update']) {
      expect([...shown].some((kind) => kind?.startsWith(request))).toBe(true);
    }
  });

  it.each([
    ['tunnels/notify', 16],
    ['jobs/notify-next', 64],
  ])('names the limit of %s', (topic, kib) => {
    expect(section).toContain(`${kib} KiB`);
    const at = (bytes: number) =>
      decide(messageOf(`gw/${serial}/${topic}`, ' '.repeat(bytes)), contextOf()) as { readonly reason?: string };
    expect(at(kib * 1024).reason).toBe('not-json');
    expect(at(kib * 1024 + 1).reason).toBe('oversized');
  });
});
