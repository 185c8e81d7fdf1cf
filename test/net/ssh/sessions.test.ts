import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import type { Client, ClientChannel } from 'ssh2';
import { expect, it } from 'vitest';
import { createSessions } from '../../../src/lib/net/ssh/sessions.ts';
import { runs } from '../../properties.ts';

/** A server that allows so many sessions at a time, and answers when `answer` is called. */
function server(maxSessions: number) {
  const asked: { line: string; answer: () => void }[] = [];
  const open: { line: string; end: () => void }[] = [];
  let requests = 0;
  const exec: Pick<Client, 'exec'>['exec'] = ((
    line: string,
    done: (error?: Error, channel?: ClientChannel) => void,
  ) => {
    requests += 1;
    // The server decides in the order of the requests, and counts a session until it was closed.
    const answer = () => {
      if (open.length >= maxSessions) return done(new Error('open failed'));
      const channel = new EventEmitter();
      const session = {
        line,
        end: () => {
          open.splice(open.indexOf(session), 1);
          channel.emit('close');
        },
      };
      open.push(session);
      done(undefined, channel as unknown as ClientChannel);
    };
    asked.push({ line, answer });
  }) as never;
  return { sessions: createSessions({ exec }), asked, open, requests: () => requests };
}

it('each program runs when the others have ended, without a request meanwhile, or is refused when none runs', {
  tags: 'property',
}, () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.nat(5)),
      (max, count, picks) => {
        const { sessions, asked, open, requests } = server(max);
        const [started, refused]: [string[], string[]] = [[], []];
        for (let index = 0; index < count; index += 1) {
          const line = `program ${index}`;
          const handlers = { onChannel: () => void started.push(line), onError: () => void refused.push(line) };
          sessions.start(line, { ...handlers, isOver: () => false });
        }
        const order = [...picks];
        for (let step = 0; step < 200 && (asked.length > 0 || open.length > 0); step += 1) {
          const pick = order.shift() ?? 0;
          // Either the next answer of the server, or the end of a program.
          if (asked.length > 0 && (pick % 2 === 0 || open.length === 0)) asked.shift()?.answer();
          else open[pick % open.length]?.end();
        }
        expect([asked.length, open.length, sessions.open]).toEqual([0, 0, 0]);
        expect([...started, ...refused].toSorted()).toHaveLength(count);
        expect(max === 0 ? started : refused).toEqual([]);
        // At most one request for each program and each end.
        expect(requests()).toBeLessThanOrEqual(count * (count + 1));
      },
    ),
    { numRuns: runs(300) },
  );
});

it('a server that frees a session later than it reports its end is asked again, and at last refuses', () => {
  for (const freedAfter of [2, 99]) {
    const { sessions, asked, open } = server(1);
    const refusals: string[] = [];
    const started: string[] = [];
    const handlersOf = (line: string) => ({
      onChannel: () => void started.push(line),
      onError: () => void refusals.push(line),
      isOver: () => false,
    });
    sessions.start('first', handlersOf('first'));
    asked.shift()?.answer();
    const late = { line: 'not freed', end: () => {} };
    open[0]?.end();
    open.push(late);
    sessions.start('second', handlersOf('second'));
    for (let tries = 1; asked.length > 0 && tries < 50; tries += 1) {
      if (tries > freedAfter) open.splice(open.indexOf(late), 1);
      asked.shift()?.answer();
    }
    expect([started, refusals.length]).toEqual(freedAfter === 2 ? [['first', 'second'], 0] : [['first'], 1]);
  }
});

it('a program that was given up is not started later', () => {
  const { sessions, asked, open } = server(1);
  const none = { onChannel: () => {}, onError: () => {} };
  sessions.start('first', { ...none, isOver: () => false });
  sessions.start('second', { ...none, isOver: () => true });
  while (asked.length > 0) asked.shift()?.answer();
  open[0]?.end();
  expect([asked.length, open.length]).toEqual([0, 0]);
});

it('a program that was given up leaves none waiting', () => {
  const { sessions, asked, open } = server(1);
  const started: string[] = [];
  let isGivenUp = false;
  const start = (line: string, isOver: () => boolean) =>
    sessions.start(line, { onChannel: () => void started.push(line), onError: () => {}, isOver });
  const answerAll = () => {
    for (const { answer } of asked.splice(0)) answer();
  };
  start('first', () => false);
  answerAll();
  start('waits', () => false);
  start('given up', () => isGivenUp);
  answerAll();
  const late = { line: 'not freed', end: () => {} };
  open[0]?.end();
  open.push(late);
  isGivenUp = true;
  answerAll();
  open.splice(open.indexOf(late), 1);
  answerAll();
  expect(started).toEqual(['first', 'waits']);
});
