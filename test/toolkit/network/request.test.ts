import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { networkRequestSchema } from '../../../src/lib/toolkit/network/network.result.ts';
import { writeNetworkRequest } from '../../../src/lib/toolkit/network/request.ts';
import { fontsDir, readPdf } from '../../report/pdf-reader.ts';
import { sharedFolder } from '../kit.ts';

const dir = sharedFolder();
let sitePath: string;
const now = () => new Date('2026-11-21T12:00:00Z');

beforeAll(async () => {
  sitePath = join(dir, 'site.yaml');
  await writeFile(sitePath, 'name: Lobby\nchassis: { host: 192.0.2.3, serial: SN0007, mac: "02:00:00:00:00:07" }\n');
});

describe('writing the network request', () => {
  it('returns the letter with its facts, in the published shape', async () => {
    for (const format of ['md', 'html'] as const) {
      const result = await writeNetworkRequest({ fontsDir, sitePath, lang: 'en', format, now });
      expect(networkRequestSchema.parse(result)).toEqual(result);
      expect(result.document).toContain('02:00:00:00:00:07');
      expect(result).toMatchObject({ written: null, complete: false, facts: { serial: 'SN0007' } });
    }
  });

  it('writes to a file and replaces none without --force', async () => {
    const out = join(dir, 'request.html');
    const options = { sitePath, lang: 'de', format: 'html', out, now, fontsDir } as const;
    expect(await writeNetworkRequest(options)).toMatchObject({ document: null, written: { path: out } });
    await expect(writeNetworkRequest(options)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await expect(writeNetworkRequest({ ...options, force: true })).resolves.toMatchObject({ written: { path: out } });
  });

  it('writes a PDF, and says of how many pages', { tags: 'large' }, async () => {
    const out = join(dir, 'request.pdf');
    const options = { sitePath, lang: 'de', format: 'pdf', out, now, fontsDir } as const;
    const result = await writeNetworkRequest(options);
    expect(networkRequestSchema.parse(result)).toEqual(result);
    const bytes = await readFile(out);
    expect(result.written).toEqual({
      path: out,
      bytes: bytes.length,
      pages: readPdf(bytes).pages.length,
      replacedCharacters: 0,
    });
  });

  it('prints no PDF, and requires a valid site file', async () => {
    const pdf = writeNetworkRequest({ fontsDir, sitePath, lang: 'de', format: 'pdf', now });
    await expect(pdf).rejects.toMatchObject({ code: 'USAGE' });
    const none = writeNetworkRequest({ fontsDir, sitePath: join(dir, 'none.yaml'), lang: 'de', format: 'md', now });
    await expect(none).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
  });
});
