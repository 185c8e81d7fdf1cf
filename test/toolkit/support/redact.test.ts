import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/lib/toolkit/support/redact.ts';
import { anyText, forAll } from '../kit.ts';
import { harmless, multiLine, oneLine } from './planted.ts';

const none = createRedactor([]);
const json = (value: unknown) => JSON.stringify(value);
const SECRET = 'hunter2-Xy7';
const forms = [...oneLine, ...multiLine];

describe('the redaction of a support bundle', () => {
  it('lets no secret of the site pass, in any form and at any place', { tags: 'property' }, () => {
    const secrets = fc
      .string({ minLength: 6, maxLength: 40 })
      .filter((text) => text.trim() === text && !/[\r\n]/.test(text) && text.length >= 6);
    forAll(secrets, fc.string(), fc.string(), (secret, before, after) => {
      fc.pre(!'[redacted]'.includes(secret) && !before.includes(secret) && !after.includes(secret));
      const redactor = createRedactor([`${secret}\n`]);
      const bytes = Buffer.from(secret);
      for (const form of [secret, bytes.toString('base64'), bytes.toString('hex'), bytes.toString('base64url')]) {
        const text = `${before} ${form} ${after}`;
        const cut = redactor.document(text);
        expect(cut.count).toBeGreaterThan(0);
        expect(cut.value.split('[redacted]').join('')).not.toContain(` ${form} `);
        const data = json(redactor.data({ [form]: [text], deep: { note: text } }).value);
        expect(data.split('[redacted]').join('')).not.toContain(` ${json(form).slice(1, -1)} `);
      }
    });
  });

  it('knows a secret of the site within a longer text in base64', { tags: 'property' }, () => {
    forAll(
      fc.stringMatching(/^[a-z0-9]{12,30}$/),
      fc.string({ maxLength: 9 }),
      fc.string({ maxLength: 9 }),
      (secret, before, after) => {
        const text = Buffer.from(`${before}${secret}${after}`).toString('base64');
        const left = createRedactor([secret]).document(`x ${text} y`).value;
        expect(Buffer.from(left.replace('[redacted]', '').slice(2, -2), 'base64').toString()).not.toContain(secret);
      },
    );
  });

  it.each(forms.map((form) => [form(SECRET)]))('knows the form %j', (text) => {
    const found = none.document(text);
    expect(found.value).not.toContain(SECRET);
    expect(found.count).toBeGreaterThan(0);
    expect(json(none.data({ fields: { note: text } }).value)).not.toContain(SECRET);
    expect(json(none.data({ [text]: 1 }).value)).not.toContain(SECRET);
    if (text.includes('after: kept')) expect(found.value).toContain('after: kept');
  });

  it('knows each form with any secret in any text', { tags: 'property' }, () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9!$*+~^-]{6,18}[0-9][a-z]$/);
    forAll(fc.constantFrom(...forms), secret, anyText(), anyText(), (form, value, before, after) => {
      fc.pre(!before.includes(value) && !after.includes(value));
      // A name is a word of its own, and a line of YAML begins at its margin.
      expect(none.document(`${before}\n${form(value)}\n${after}`).value).not.toContain(value);
    });
  });

  it.each(harmless)('leaves %j', (text) => {
    expect(none.document(text)).toEqual({ value: text, count: 0 });
  });

  it('leaves what stands beside a secret', () => {
    expect(none.document('GET /x?token=abc123&page=2 HTTP/1.1').value).toBe('GET /x?token=[redacted]&page=2 HTTP/1.1');
    expect(none.document('{"token":"abc","state":"ok","pin":4711,"n":1}').value).toBe(
      '{"token":[redacted],"state":"ok","pin":[redacted],"n":1}',
    );
    expect(none.document('password: a b\nport: 1').value).toBe('password: [redacted]\nport: 1');
  });

  it.each([
    'password',
    'accessToken',
    'api_key',
    'setCookie',
    'private-key',
    'enrolmentCode',
    'PIN',
    'Kennwort',
    'wlanPsk',
  ])('keeps no value named %s', (key) => {
    const data = { [key]: 'hunter2', list: [{ [key]: 12_345_678 }], deep: { [key]: { value: ['hunter2'] } } };
    expect(json(none.data(data).value)).not.toMatch(/hunter2|12345678/);
  });

  it('keeps no value that stands behind the name of a secret in a list or a pair', () => {
    const lists = [
      ['--password', 'hunter2'],
      ['Host', 'h', 'X-Api-Key', 'hunter2'],
    ];
    const pairs = [
      { name: 'WLAN-Passwort', value: 'hunter2' },
      { key: 'psk', value: 'hunter2' },
    ];
    expect(json(none.data({ lists, pairs }).value)).not.toContain('hunter2');
  });

  it('finds a short secret of the site as a word of its own, also as a number', () => {
    const redactor = createRedactor(['4711\n', 'abc']);
    expect(redactor.data({ a: 4711, b: 'PIN 4711, 47110 abc', c: 47_110 })).toEqual({
      value: { a: '[redacted]', b: 'PIN [redacted], 47110 abc', c: 47_110 },
      count: 2,
    });
  });

  it('finds a foreign key also where its frame is that of a key of the site', () => {
    const label = 'PRIVATE KEY';
    const frame = (body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
    expect(createRedactor([frame('own-own-own')]).document(frame(SECRET)).value).not.toContain(SECRET);
  });

  it('keeps two names two, and the key of a fault', () => {
    expect(
      createRedactor(['first-hidden', 'second-hidden']).data({ 'first-hidden': 1, 'second-hidden': 2 }).value,
    ).toEqual({
      '[redacted]': 1,
      '[redacted] 2': 2,
    });
    const fault = { faultId: 'f1', key: 'service.chassis', text: 'x' };
    expect(none.data([fault])).toEqual({ value: [fault], count: 0 });
  });

  it('keeps what a developer needs, and parses what it was given', { tags: 'property' }, () => {
    const kept = {
      passwordFile: '/var/lib/gw/password',
      passwordConfigured: true,
      sha256: 'ab'.repeat(32),
      address: '127.0.0.1:8090',
      url: 'https://host.example/path',
      certificate: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      n: null,
    };
    expect(none.data(kept)).toEqual({ value: kept, count: 0 });
    forAll(fc.jsonValue(), (value) => JSON.parse(json(none.data(value).value)) !== undefined);
  });

  // Each begins a pattern again and again; work that grows with the square of the size would not end.
  it.each([
    ...[
      'a',
      '://',
      'a://',
      'a:b@',
      '://a:b',
      'eyJ',
      'eyJ-',
      'eyJaaaaaaaaa.',
      '-----BEGIN ',
      '-----BEGIN PRIVATE KEY',
      '-----END ',
    ],
    ...[
      'password',
      'password ',
      'password: ',
      'password:\n',
      'password: "',
      '"token":"x",',
      '"token":"x ',
      'token\\"',
      'pass(',
      'key for ',
      'password is ',
      'Passwort ist',
      'password for x is ',
      'passwordA',
      'password_',
      'PIN was a ',
    ],
    ...[
      '?token=',
      '&auth=',
      '--password ',
      'Basic ',
      'Bearer a',
      '%3ftoken%3d',
      '\n',
      '\n ',
      ' ',
      '=',
      '"',
      '\\',
      '- ',
      'WIFI:',
      'AKIA',
      'scrypt$',
      'ü',
    ],
  ])('reads a megabyte of %j', { tags: 'large' }, (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const redactor = createRedactor([SECRET]);
    for (const all of [text, `password:\n ${text}`, `"password": "${text}`]) {
      expect(redactor.document(`${all}\npassword: ${SECRET}`).value).not.toContain(SECRET);
    }
  });
});
