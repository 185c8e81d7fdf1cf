import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { checkMedia } from '../../../src/lib/toolkit/gateway/media-check.ts';
import { PASSWORD, startServer, type TestServer } from '../../operator/server.ts';
import { httpServer, verdictsOf } from '../kit.ts';
import { context } from '../operator/fake-operator.ts';

const BYTES = 300_001;
const toolkitOf = (site: Site, port: number) => ({
  site: { ...site, operator: { ...site.operator, port } },
  dialer: directDialer,
  clock: systemClock,
});
const of = ({ site, full }: TestServer) => toolkitOf(site, full);

describe('a media file of full size', () => {
  const isKept = async (more: { readonly bytes?: number }, bytes: number) => {
    await using server = await startServer({ password: true });
    const result = await checkMedia(of(server), { password: PASSWORD, ...more }, context());
    expect(result.bytes).toBe(bytes);
    expect(verdictsOf(result.findings)).toEqual({ stored: 'ok', same: 'ok', deleted: 'ok' });
    expect(await readdir(join(server.dir, 'media'))).toEqual([]);
  };

  it('is stored, returned unchanged, and deleted', () => isKept({ bytes: BYTES }, BYTES));

  it('has 200 MB where no size is given', { tags: 'large' }, () => isKept({}, 200_000_000));

  it('is wrong where there is no space for it', async () => {
    await using server = await startServer({ password: true });
    await writeFile(join(server.dir, 'media'), 'a file where the folder should be');
    const { findings } = await checkMedia(of(server), { password: PASSWORD, bytes: BYTES }, context());
    expect(verdictsOf(findings)).toEqual({ stored: 'wrong', same: 'not-checked', deleted: 'not-checked' });
  });

  it('is wrong where it is returned with one byte changed, or truncated', async () => {
    for (const change of [(all: Buffer) => all.fill(all[7] ? 0 : 1, 7, 8), (all: Buffer) => all.subarray(0, -1)]) {
      let stored = Buffer.alloc(0);
      await using server = await httpServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const body = Buffer.concat(chunks);
          if (request.url === '/api/anmeldung') response.setHeader('set-cookie', 's=1').end('{}');
          else if (request.method === 'POST') {
            const begin = body.indexOf('\r\n\r\n') + 4;
            stored = body.subarray(begin, begin + BYTES);
            response.writeHead(201).end('{}');
          } else if (request.method === 'GET' && stored.length > 0) response.end(change(Buffer.from(stored)));
          else if (request.method === 'GET') response.writeHead(404).end('{}');
          else {
            stored = Buffer.alloc(0);
            response.end('{}');
          }
        });
      });
      const { findings } = await checkMedia(
        toolkitOf({ operator: {} } as Site, server.port),
        { password: 'x', bytes: BYTES },
        context(),
      );
      expect(verdictsOf(findings)).toEqual({ stored: 'ok', same: 'wrong', deleted: 'ok' });
    }
  });
});
