import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkDns, parseNameServer } from '../../../src/lib/toolkit/own-check/dns.ts';
import { until } from '../../waiting.ts';
import { forAll } from '../kit.ts';
import { context, nameServer, toolkit } from './peers.ts';

const ask = (server: string, { clock } = toolkit(), signal = context.signal) =>
  checkDns({ clock }, { name: 'robot.example', type: 'A', server, timeoutS: 20 }, { ...context, signal });

/** A name server that never answers; `asked` once it has a question. */
async function silentServer() {
  let questions = 0;
  const server = await nameServer(() => {
    questions += 1;
    return null;
  });
  return {
    server,
    asked: () =>
      until(
        () => questions,
        (count) => count > 0,
      ),
  };
}

test('the records of the named server, and which one it was', async () => {
  const server = await nameServer(() => '192.0.2.7');
  const found = await ask(server);
  expect(found).toMatchObject({ answered: true, resolvable: true, answers: ['192.0.2.7'], servers: [server] });
  expect(found.detail).toBe(`robot.example A: 192.0.2.7, by ${server}, from this machine`);
});

test('a name that does not exist is not resolvable', async () => {
  expect(await ask(await nameServer(() => 3))).toMatchObject({ answered: true, resolvable: false, answers: [] });
});

test('a server that never answers leaves open whether the name exists', async () => {
  const kit = toolkit();
  const { server, asked } = await silentServer();
  const asking = ask(server, kit);
  await asked();
  await kit.clock.advance(20_000);
  const silent = { answered: false, resolvable: 'not-checked', answers: 'not-checked', failure: 'no answer' };
  expect(await asking).toMatchObject({ ...silent, tookMs: 20_000 });
});

test('so does a server that refuses or fails', async () => {
  for (const code of [2, 5]) {
    expect(await ask(await nameServer(() => code))).toMatchObject({ answered: true, resolvable: 'not-checked' });
  }
});

test('an interruption is no result', async () => {
  const stop = new AbortController();
  const { server, asked } = await silentServer();
  const asking = ask(server, toolkit(), stop.signal);
  await asked();
  stop.abort(new Error('stop'));
  await expect(asking).rejects.toThrow('stop');
});

test('a name server is an address with an optional port, and nothing else', { tags: 'property' }, () => {
  expect(parseNameServer('192.0.2.1')).toEqual({ address: '192.0.2.1', port: 53 });
  expect(parseNameServer('[2001:db8::1]:5353')).toEqual({ address: '2001:db8::1', port: 5353 });
  for (const text of [
    'dns.example',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '[192.0.2.1]:53',
    '2001:db8::1:x',
    'fe80::1%eth0',
  ]) {
    expect(parseNameServer(text), text).toBeUndefined();
  }
  forAll(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 65_535 }), (address, port) => {
    const text = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
    expect(parseNameServer(text)).toEqual({ address, port });
  });
  forAll(fc.string(), (text) => {
    const found = parseNameServer(text);
    if (found) expect(text).toContain(found.address);
  });
});
