import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccessToken, newClientToken } from '../../../src/lib/tunnel/session/access-token.ts';

const value = 'AQGAAXj3u0Zk5Xr9-with.chars/of+a=real~token';

describe('an access token', () => {
  const token = new AccessToken(value);

  it('shows its value in no text', () => {
    const holder = { token, list: [token], error: new Error(`with ${token}`) };
    const texts = [
      String(token),
      `${token}`,
      JSON.stringify(holder),
      inspect(token),
      inspect(holder, { depth: 10, showHidden: true, getters: true }),
      format('%s %o %O %j', token, token, token, token),
      JSON.stringify(Object.entries(token)),
    ];
    expect(texts.filter((text) => text.includes(value))).toEqual([]);
    expect(JSON.stringify({ token })).toBe('{"token":"[access token]"}');
  });

  it('is known by the first half of its SHA-256', () => {
    // Of `printf %s abc | sha256sum`.
    expect(new AccessToken('abc').hash).toBe('ba7816bf8f01cfea414140de5dae2223');
  });

  it('is removed from a text, also a piece of it that a limit has cut', () => {
    expect(token.scrub(`400 ${value}: used`)).toBe('400 [removed]: used');
    expect(token.scrub(`400 ${value.slice(0, 20)}`)).toBe('400 [removed]');
    expect(token.scrub(`${value}${value}`)).not.toContain(value.slice(0, 8));
    expect(token.scrub('connection refused')).toBe('connection refused');
  });

  it('leaves no part of 8 characters in any text (property)', { tags: 'property' }, () => {
    const anyToken = fc.string({ minLength: 16, maxLength: 200, unit: fc.constantFrom(...'abcdefAB01-') });
    fc.assert(
      fc.property(anyToken, fc.string(), fc.string(), fc.nat(), fc.nat(), (text, before, after, a, b) => {
        const [from, until] = [a % text.length, b % text.length].sort((x, y) => x - y);
        const scrubbed = new AccessToken(text).scrub(`${before}${text.slice(from, until)}${after}`);
        for (let at = 0; at + 8 <= text.length; at += 1) expect(scrubbed).not.toContain(text.slice(at, at + 8));
      }),
    );
  });

  it('changes no text without it (property)', { tags: 'property' }, () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(token.scrub(text)).toBe(text)));
  });
});

it('a client token has the form that the service demands, and is new each time', () => {
  const values = Array.from({ length: 50 }, () => newClientToken().reveal());
  for (const one of values) expect(one).toMatch(/^gwct-[a-zA-Z0-9-]{32,120}$/);
  expect(new Set(values).size).toBe(50);
});

it('the value of a token is read at one place of the source only: the environment of the proxy', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const found = globSync('src/**/*.ts', { cwd: root }).flatMap((path) =>
    [...readFileSync(`${root}${path}`, 'utf8').matchAll(/\.reveal\(/g)].map(() => path),
  );
  expect(found).toEqual(['src/lib/tunnel/session/proxy-process.ts']);
});
