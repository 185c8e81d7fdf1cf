import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkDns, parseNameServer } from '../../../src/lib/toolkit/own-check/dns.ts';
import { context, nameServer } from './peers.ts';

const ask = (server: string, more = {}) =>
  checkDns({ name: 'robot.example', type: 'A', server, timeoutS: 2, ...more }, context);

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
  const began = performance.now();
  const found = await ask(await nameServer(() => null), { timeoutS: 0.4 });
  expect(found).toMatchObject({ answered: false, resolvable: 'not-checked', answers: 'not-checked' });
  expect(found.failure).toBe('no answer');
  expect(performance.now() - began).toBeLessThan(2_000);
});

test('so does a server that refuses or fails', async () => {
  for (const code of [2, 5]) {
    expect(await ask(await nameServer(() => code))).toMatchObject({ answered: true, resolvable: 'not-checked' });
  }
});

test('an interruption is no result', async () => {
  const stop = new AbortController();
  const server = await nameServer(() => null);
  const asked = checkDns({ name: 'a.example', type: 'A', server, timeoutS: 30 }, { ...context, signal: stop.signal });
  setTimeout(() => stop.abort(new Error('stop')), 50);
  await expect(asked).rejects.toThrow('stop');
});

test('a name server is an address with an optional port, and nothing else', () => {
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
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: 1, max: 65_535 }), (address, port) => {
      const text = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
      expect(parseNameServer(text)).toEqual({ address, port });
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => {
      const found = parseNameServer(text);
      if (found) expect(text).toContain(found.address);
    }),
  );
});
