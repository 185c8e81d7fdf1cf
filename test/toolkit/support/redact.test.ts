import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/lib/toolkit/support/redact.ts';
import { forAll } from '../kit.ts';

const none = createRedactor([]);
const json = (value: unknown) => JSON.stringify(value);

describe('the redaction of a support bundle', () => {
  it('lets no secret of the site pass, in any form and at any place', { tags: 'property' }, () => {
    const secrets = fc
      .string({ minLength: 6, maxLength: 40 })
      .filter((text) => text.trim() === text && !/[\r\n]/.test(text) && text.length >= 6);
    forAll(secrets, fc.string(), fc.string(), (secret, before, after) => {
      fc.pre(!'[redacted]'.includes(secret) && !before.includes(secret) && !after.includes(secret));
      const redactor = createRedactor([`${secret}\n`]);
      for (const form of [secret, Buffer.from(secret).toString('base64')]) {
        const text = `${before} ${form} ${after}`;
        const cut = redactor.document(text);
        expect(cut.count).toBeGreaterThan(0);
        expect(cut.value.split('[redacted]').join('')).not.toContain(` ${form} `);
        const data = json(redactor.data({ [form]: [text], deep: { note: text } }).value);
        expect(data.split('[redacted]').join('')).not.toContain(` ${json(form).slice(1, -1)} `);
      }
    });
  });

  it.each([
    'password: hunter2hunter2',
    '  device_password = "hunter2hunter2"',
    '"token":"hunter2hunter2"',
    'GW_ACCESS_TOKEN=hunter2hunter2',
    'Authorization: Bearer hunter2hunter2',
    'sent with Bearer hunter2hunter2',
    'https://host.example/x?X-Amz-Signature=hunter2hunter2&y=1',
    'mqtts://user:hunter2hunter2@host.example/',
    'scrypt$16384$hunter2hunter2',
    'eyJhbGciOi.hunter2hunter2.sig',
    `${'-----'}BEGIN EC PRIVATE KEY-----\nhunter2hunter2\n-----END EC PRIVATE KEY-----`,
    `${'-----'}BEGIN PRIVATE KEY-----\nhunter2hunter2 and the file ends here`,
    `session ${'hunter2hunter2'.repeat(8)}`,
  ])('knows the form %s, also within a value', (text) => {
    expect(none.document(text)).toMatchObject({ value: expect.not.stringContaining('hunter2') });
    expect(none.document(text).count).toBeGreaterThan(0);
    expect(json(none.data({ fields: { note: text } }).value)).not.toContain('hunter2');
  });

  it.each(['password', 'accessToken', 'api_key', 'setCookie', 'private-key', 'enrolmentCode'])(
    'keeps no value named %s',
    (key) => {
      expect(json(none.data({ [key]: 'hunter2', list: [{ [key]: 12_345_678 }] }).value)).not.toMatch(
        /hunter2|12345678/,
      );
    },
  );

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
});
