import { createHash, createHmac } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { createKey, createKeyRing, type KeyRing, readKeyRing } from '../../src/lib/fleet/keys.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const FIRST = '00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef';
const SECOND = 'f0e1d2c3b4a5968778695a4b3c2d1e0f0f1e2d3c4b5a69788796a5b4c3d2e1f0';
const THIRD = '7'.repeat(64);

const keyOf = (hex: string) => createKey(Buffer.from(hex, 'hex'));
const secrets = () => fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));

describe('a key', () => {
  it('signs with HMAC-SHA256 and verifies its own signature', { tags: 'property' }, () => {
    fc.assert(
      fc.property(secrets(), fc.uint8Array(), (secret, bytes) => {
        const key = createKey(secret);
        const signature = createHmac('sha256', secret).update(bytes).digest();
        expect(key.sign(bytes)).toEqual(signature);
        expect(key.verifies(bytes, signature)).toBe(true);
      }),
    );
  });

  it('rejects a signature of another length, of other bytes and of another key, and never throws', {
    tags: 'property',
  }, () => {
    const bytes = Buffer.from('heartbeat');
    const key = keyOf(FIRST);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (signature) => {
        expect(key.verifies(bytes, signature)).toBe(false);
      }),
    );
    expect(key.verifies(bytes, key.sign(bytes).subarray(0, 31))).toBe(false);
    expect(key.verifies(bytes, Buffer.concat([key.sign(bytes), Buffer.alloc(1)]))).toBe(false);
    expect(key.verifies(Buffer.from('beaT'), key.sign(bytes))).toBe(false);
    expect(key.verifies(bytes, keyOf(SECOND).sign(bytes))).toBe(false);
  });

  it('has an id that is unique, the same on every robot, and not part of the key', { tags: 'property' }, () => {
    const hash = createHash('sha256').update('gw heartbeat key id\0').update(Buffer.from(FIRST, 'hex')).digest('hex');
    expect(keyOf(FIRST).id).toBe(Number.parseInt(hash.slice(0, 8), 16));
    expect(FIRST).not.toContain(hash.slice(0, 8));
    expect(keyOf(FIRST.toUpperCase()).id).toBe(keyOf(FIRST).id);
    fc.assert(
      fc.property(secrets(), fc.nat(255), (secret, bit) => {
        const other = Buffer.from(secret);
        other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(createKey(other).id).not.toBe(createKey(secret).id);
      }),
    );
  });
});

describe('a ring of keys', () => {
  it('signs with the first, and finds each by its id', () => {
    const [first, second, third] = [keyOf(FIRST), keyOf(SECOND), keyOf(THIRD)];
    const ring = createKeyRing([first, second, third]);
    expect(ring.signing).toBe(first);
    for (const key of [first, second, third]) expect(ring.byId(key.id)).toBe(key);
    expect(createKeyRing([first]).byId(second.id)).toBeUndefined();
  });

  it('rejects two keys with one id, in any position', () => {
    const [first, second] = [keyOf(FIRST), keyOf(SECOND)];
    const posing = { ...second, id: first.id };
    const again = keyOf(FIRST);
    for (const keys of [
      [first, again],
      [second, first, again],
      [first, posing],
    ] as const)
      expect(() => createKeyRing(keys)).toThrow('Duplicate heartbeat key');
  });
});

describe('the key files of a site', () => {
  const dir = folderOfEach();

  let files = 0;
  const file = async (content: string | Uint8Array, mode = 0o600): Promise<string> => {
    files += 1;
    const path = dir.at(`key-${files}`);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };
  const read = (keyFile: string, ...acceptedKeyFiles: string[]): Promise<KeyRing> =>
    readKeyRing({ keyFile, acceptedKeyFiles });

  /** All visible text of the refusal, which must contain nothing of the file. */
  async function refusalOf(reading: Promise<KeyRing>, ...secret: string[]): Promise<string> {
    const error = await reading.then(
      () => expect.fail('was read'),
      (caught: unknown) => caught,
    );
    if (!(error instanceof GwError)) throw error;
    expect(error).toMatchObject({ code: 'SECRET_UNREADABLE', exitCode: 2 });
    const refusal = [error.message, error.remedy, error.stack, error.cause, JSON.stringify(error.details)].join('\n');
    for (const text of secret) {
      // Not even a part of a key may be shown.
      for (let at = 0; at + 8 <= text.length; at += 1) expect(refusal).not.toContain(text.slice(at, at + 8));
    }
    return `${error.message}\n${error.remedy}`;
  }

  it('are parsed: one key of 64 hex digits, with or without a line end, in either case', async () => {
    for (const content of [FIRST, `${FIRST}\n`, `${FIRST}\r\n`, FIRST.toUpperCase()]) {
      const ring = await read(await file(content));
      expect(ring.signing.id).toBe(keyOf(FIRST).id);
      expect(ring.signing.verifies(Buffer.from('heartbeat'), keyOf(FIRST).sign(Buffer.from('heartbeat')))).toBe(true);
    }
  });

  it('yield the accepted keys beside the signing key', async () => {
    const ring = await read(await file(FIRST), await file(SECOND), await file(THIRD));
    expect(ring.signing.id).toBe(keyOf(FIRST).id);
    for (const hex of [FIRST, SECOND, THIRD]) {
      const bytes = Buffer.from('heartbeat');
      expect(ring.byId(keyOf(hex).id)?.verifies(bytes, keyOf(hex).sign(bytes))).toBe(true);
    }
    expect((await read(await file(FIRST))).byId(keyOf(SECOND).id)).toBeUndefined();
  });

  it.each([
    ['a digit too few', FIRST.slice(1)],
    ['a digit too many', `${FIRST}0`],
    ['a letter that is not a hex digit', `g${FIRST.slice(1)}`],
    ['a blank in front', ` ${FIRST}`],
    ['two line ends', `${FIRST}\n\n`],
    ['two keys', `${FIRST}\n${SECOND}\n`],
    ['a name in front', `key=${FIRST}`],
    ['Base64', Buffer.from(FIRST, 'hex').toString('base64')],
  ])('are rejected with %s, by path and key of the site file', async (_what, content) => {
    const path = await file(content);
    const refusal = await refusalOf(read(path), content, FIRST, SECOND);
    expect(refusal).toContain(`${path} (fleet.keyFile)`);
    expect(refusal).toContain('64 hex digits');
    expect(refusal).toContain('openssl rand -hex 32');
  });

  it('are rejected when the key is in binary, or when they are empty', async () => {
    await refusalOf(read(await file(Buffer.from(SECOND, 'hex'))), SECOND);
    expect(await refusalOf(read(await file('\n')))).toContain('it is empty');
  });

  it('are rejected when other users may open them', async () => {
    const path = await file(FIRST, 0o644);
    const refusal = await refusalOf(read(path), FIRST);
    expect(refusal).toContain('mode 644');
    expect(refusal).toContain(`chmod 600 ${path}`);
  });

  it('are rejected when they are missing', async () => {
    const path = dir.at('none');
    const refusal = await refusalOf(read(path));
    expect(refusal).toContain(path);
    expect(refusal).toContain('file not found');
  });

  it('are rejected for an unusable accepted key, by its key of the site file', async () => {
    const good = await file(FIRST);
    for (const [bad, why] of [
      [await file(SECOND.slice(1)), '64 hex digits'],
      [await file(SECOND, 0o640), 'mode 640'],
      [dir.at('none'), 'file not found'],
    ] as const) {
      const refusal = await refusalOf(read(good, await file(THIRD), bad), FIRST, SECOND, THIRD);
      expect(refusal).toContain(bad);
      expect(refusal).toContain('fleet.acceptedKeyFiles');
      expect(refusal).toContain(why);
    }
  });

  it('are rejected when two of them hold the same key, as after copying the wrong one', async () => {
    const reading = read(await file(FIRST), await file(SECOND), await file(`${FIRST}\n`));
    const refusal = await refusalOf(reading, FIRST, SECOND);
    expect(refusal).toContain('Duplicate heartbeat key');
  });
});
