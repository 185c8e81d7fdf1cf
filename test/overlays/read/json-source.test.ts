import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSameNumber,
  itemsOf,
  jsonOf,
  kindOf,
  membersOf,
  sameTokens,
  sameValues,
  spanOf,
} from '../../../src/lib/overlays/read/json-source.ts';
import { choices, oddCollection, writeJson } from '../arbitrary.ts';

const same = (a: string, b: string) => sameValues(spanOf(a), spanOf(b), () => {});

describe('JSON source', () => {
  it('is split into the members and items that a parser finds, in any notation', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), choices(), (value, hand) => {
        const { members, duplicateKey } = membersOf(spanOf(writeJson(value, hand))) ?? {};
        expect(duplicateKey).toBeNull();
        const read = [...(members ?? [])].map(([key, span]) => [key, JSON.parse(jsonOf(span))] as const);
        expect(Object.fromEntries(read)).toEqual(JSON.parse(JSON.stringify(value)));
        const { features } = value as { features: unknown[] };
        const items = itemsOf(members?.get('features')).map((span) => JSON.parse(jsonOf(span)) as unknown);
        expect(items).toEqual(JSON.parse(JSON.stringify(features)));
      }),
    );
  });

  it('keeps strings whole, whatever they contain', () => {
    const text = ' { "a\\"}":"]}\\\\", "\\u0062" : [ {"x":"," } , "]" ] , "":-1.5e+3} ';
    const { whole, members } = membersOf(spanOf(text)) ?? {};
    expect(whole && jsonOf(whole)).toBe(text.trim());
    expect([...(members ?? [])].map(([key, span]) => [key, jsonOf(span), kindOf(span)])).toEqual([
      ['a"}', '"]}\\\\"', 'text'],
      ['b', '[ {"x":"," } , "]" ]', 'array'],
      ['', '-1.5e+3', 'number'],
    ]);
    expect(itemsOf(members?.get('b')).map(jsonOf)).toEqual(['{"x":"," }', '"]"']);
  });

  it('has no members where it is not an object, and no items where it is not an array', () => {
    for (const text of ['[1]', '"{}"', '1', 'null', 'true']) expect(membersOf(spanOf(text))).toBeNull();
    for (const text of ['{"a":[1]}', '"[1]"', '1']) expect(itemsOf(spanOf(text))).toEqual([]);
    expect(membersOf(spanOf('\ufeff {} '))?.members.size).toBe(0);
    expect(itemsOf(spanOf('[ ]'))).toEqual([]);
  });

  it('reports a duplicate key, and has its last value as a parser does', () => {
    const found = membersOf(spanOf('{"a":1,"b":2,"\\u0061":3}'));
    expect(found?.duplicateKey).toBe('a');
    expect(found?.members.get('a') && jsonOf(found.members.get('a') ?? spanOf(''))).toBe('3');
  });

  it('is equal token by token where only whitespace differs', () => {
    expect(sameTokens(spanOf('{"a b":[1, 2]}'), spanOf(' {\n "a b" :\t[1,2]\r\n}'))).toBe(true);
    expect(sameTokens(spanOf('["a b"]'), spanOf('["ab"]'))).toBe(false);
    expect(sameTokens(spanOf('["\\" ,"]'), spanOf('[ "\\" ," ]'))).toBe(true);
    expect(sameTokens(spanOf('[1,2]'), spanOf('[1,2,3]'))).toBe(false);
    expect(sameTokens(spanOf('[1]'), spanOf('[1.0]'))).toBe(false);
  });

  it('is compared as text where it is nested very deeply', () => {
    const deep = (inner: string) => `${'['.repeat(15_000)}${inner}${']'.repeat(15_000)}`;
    expect(same(deep('1'), deep(' 1 '))).toBe(true);
    expect(same(deep('1'), deep('2'))).toBe(false);
  });
});

describe('the notation of numbers', () => {
  it('are the same when they are equal', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(4), (value, zeros) => {
        const plain = JSON.stringify(value);
        expect(isSameNumber(plain, plain)).toBe(true);
        const exponent = plain.includes('e') ? plain : `${plain}${plain.includes('.') ? '' : '.0'}${'0'.repeat(zeros)}`;
        expect(isSameNumber(plain, exponent)).toBe(true);
        expect(isSameNumber(plain, value.toExponential())).toBe(true);
      }),
    );
  });

  it('differ in any digit of a whole number, however long', { tags: 'property' }, () => {
    const digits = fc.bigInt({ min: 2n ** 53n, max: 10n ** 40n });
    fc.assert(
      fc.property(digits, fc.bigInt({ min: 1n, max: 1000n }), (number, step) => {
        expect(isSameNumber(String(number), String(number + step))).toBe(false);
        expect(isSameNumber(String(-number), String(-number))).toBe(true);
        expect(isSameNumber(String(number), `${number}.0`)).toBe(true);
        expect(isSameNumber(String(number * 10n), `${number}e1`)).toBe(true);
      }),
    );
  });
});
