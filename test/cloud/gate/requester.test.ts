import { describe, expect, it } from 'vitest';
import { createRequester } from '../../../src/lib/cloud/gate/requester.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

const request = { kind: 'job-get', topic: 'gw/SN0001/jobs/j1/get', body: { includeJobDocument: true } } as const;
const answer = { kind: 'job', execution: null } as const;

function opened() {
  const clock = createFakeClock();
  const sent: { topic: string; body: Record<string, unknown> }[] = [];
  let ended = new AbortController();
  let publish: () => Promise<void> = async () => {};
  let isConnected = true;
  const requester = createRequester({
    clock,
    connection: () =>
      isConnected
        ? {
            ended: ended.signal,
            publish(topic, payload) {
              sent.push({ topic, body: JSON.parse(new TextDecoder().decode(payload)) });
              return publish();
            },
          }
        : null,
  });
  return {
    clock,
    sent,
    requester,
    tokenOf: (index = sent.length - 1) => String(sent[index]?.body.clientToken),
    end: () => ended.abort(),
    reconnect: () => {
      ended = new AbortController();
    },
    disconnect: () => {
      isConnected = false;
    },
    publishWith: (other: () => Promise<void>) => {
      publish = other;
    },
  };
}

const signal = new AbortController().signal;

describe('a request', () => {
  it('gets its answer by its token, also before the broker has acknowledged it', async () => {
    const { requester, sent, tokenOf, publishWith, clock } = opened();
    publishWith(() => new Promise(() => {}));
    const asked = requester.ask(request, { signal });
    expect(sent[0]).toEqual({
      topic: request.topic,
      body: { includeJobDocument: true, clientToken: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(requester.requestOf(tokenOf())).toEqual({ kind: 'job-get', topic: request.topic, state: 'pending' });
    expect(requester.resolve(tokenOf(), answer)).toBe(true);
    expect(requester.requestOf(tokenOf())?.state).toBe('answered');
    await expect(asked).resolves.toEqual(answer);
    expect(clock.pending).toBe(0);
  });

  it('is answered once', async () => {
    const { requester, tokenOf } = opened();
    const asked = requester.ask(request, { signal });
    requester.resolve(tokenOf(), answer);
    expect(requester.resolve(tokenOf(), { kind: 'job-updated' })).toBe(false);
    await expect(asked).resolves.toEqual(answer);
  });

  it('without an answer in time ends, and its token is remembered as ended', async () => {
    const { requester, clock, tokenOf } = opened();
    const asked = requester.ask(request, { signal });
    const failed = expect(asked).rejects.toMatchObject({
      code: 'CLOUD_NO_ANSWER',
      tried: { address: request.topic, forMs: 10_000 },
    });
    await clock.advance(9_999);
    expect(requester.requestOf(tokenOf())?.state).toBe('pending');
    await clock.advance(1);
    await failed;
    expect(requester.requestOf(tokenOf())?.state).toBe('ended');
    expect(requester.resolve(tokenOf(), answer)).toBe(false);
  });

  it('takes a timeout of its own', async () => {
    const { requester, clock } = opened();
    const failed = expect(requester.ask(request, { signal, timeoutMs: 50 })).rejects.toMatchObject({
      code: 'CLOUD_NO_ANSWER',
    });
    await clock.advance(50);
    await failed;
  });

  it('is not sent without a connection', async () => {
    const { requester, disconnect, sent } = opened();
    disconnect();
    await expect(requester.ask(request, { signal })).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    expect(sent).toEqual([]);
  });

  it('is not sent on a connection that has ended', async () => {
    const { requester, end, sent } = opened();
    end();
    await expect(requester.ask(request, { signal })).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    expect(sent).toEqual([]);
  });

  it('ends with its connection; an answer after the reconnect is late', async () => {
    const { requester, end, reconnect, tokenOf } = opened();
    const failed = expect(requester.ask(request, { signal })).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    end();
    await failed;
    reconnect();
    expect(requester.requestOf(tokenOf())?.state).toBe('ended');
  });

  it('ends when it could not be published', async () => {
    const { requester, publishWith } = opened();
    publishWith(async () => {
      throw new Error('connection closed');
    });
    await expect(requester.ask(request, { signal })).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
  });

  it('ends with its signal, and is not sent when that is aborted already', async () => {
    const { requester, sent, clock } = opened();
    const stopped = new AbortController();
    const asked = requester.ask(request, { signal: stopped.signal });
    stopped.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await expect(requester.ask(request, { signal: stopped.signal })).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('beyond the limit is not sent, and others are as soon as one has ended', async () => {
    const { requester, sent, tokenOf } = opened();
    const all = Array.from({ length: 16 }, () => requester.ask(request, { signal }));
    await expect(requester.ask(request, { signal })).rejects.toMatchObject({ code: 'CLOUD_NO_ANSWER' });
    expect(sent).toHaveLength(16);
    requester.resolve(tokenOf(0), answer);
    await all[0];
    const next = requester.ask(request, { signal });
    expect(sent).toHaveLength(17);
    for (let i = 1; i < 17; i += 1) requester.resolve(tokenOf(i), answer);
    await Promise.all([...all, next]);
  });

  it('is forgotten after 256 later ones, never while it waits', async () => {
    const { requester, tokenOf } = opened();
    const waiting = requester.ask(request, { signal });
    for (let i = 1; i <= 300; i += 1) {
      const asked = requester.ask(request, { signal });
      requester.resolve(tokenOf(), answer);
      await asked;
    }
    expect(requester.requestOf(tokenOf(0))?.state).toBe('pending');
    expect(requester.requestOf(tokenOf(1))).toBeNull();
    expect(requester.requestOf(tokenOf(300))?.state).toBe('answered');
    requester.resolve(tokenOf(0), answer);
    await waiting;
  });

  it('has a token that no other has', async () => {
    const { requester, sent, tokenOf } = opened();
    for (let i = 0; i < 50; i += 1) {
      const asked = requester.ask(request, { signal });
      requester.resolve(tokenOf(), answer);
      await asked;
    }
    expect(new Set(sent.map(({ body }) => body.clientToken)).size).toBe(50);
  });
});
