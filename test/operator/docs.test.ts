import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { connectionLimits } from '../../src/lib/operator/connections/limits.ts';
import { refusalTable, statusOfError } from '../../src/lib/operator/http/refusal.ts';
import { routes } from '../../src/lib/operator/routes.ts';

const page = await readFile(new URL('../../docs/operator.md', import.meta.url), 'utf8');

describe('docs/operator.md', () => {
  it('lists every route of the application and no other, with the answer of the read-only socket', async () => {
    const documented = [...page.matchAll(/^\| (GET|POST|DELETE) \| `([^`]+)` \| (\d+) \| (\d+) \|/gm)].map(
      ([, method, path, full, readOnly]) => [`${method} ${path}`, Number(readOnly), full === '401'],
    );
    const actual = routes.map(({ method, path, readOnly, signedIn }) => {
      const id = path.includes('/maps/') ? '<map_id>' : '<id>';
      const shown = path.replace(/:id\([^)]*\)/, id).replace(':name', '<name>');
      return [`${method} ${shown}`, readOnly ? (signedIn ? 401 : 200) : 403, signedIn];
    });
    expect(documented).toEqual(actual);
  });

  it('lists every error code with its status', () => {
    const documented = [...page.matchAll(/^\| (\d{3}) \| `([A-Z_]+)` \|/gm)].map(
      ([, status, code]) => `${status} ${code}`,
    );
    const actual = [
      ...Object.entries(refusalTable).map(([code, [status]]) => `${status} ${code}`),
      ...Object.entries(statusOfError).map(([code, status]) => `${status} ${code}`),
      '500 INTERNAL',
    ];
    expect(documented.sort()).toEqual(actual.sort());
  });

  it('names the bounds of both sockets as they are', () => {
    const { full, 'read-only': readOnly } = connectionLimits;
    const both = (of: (limits: (typeof connectionLimits)[keyof typeof connectionLimits]) => unknown) => [
      String(of(full)),
      String(of(readOnly)),
    ];
    const s = (ms: number) => `${ms / 1_000} s`;
    const rows: Record<string, readonly [full: string, readOnly: string]> = Object.fromEntries(
      [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].map(([, bound = '', a = '', b = '']) => [
        bound.trim(),
        [a.trim(), b.trim()],
      ]),
    );
    const leading = (name: string) => rows[name]?.map((text) => text.split(/[,:]/)[0]);
    expect(leading('Connections in all')).toEqual(both(({ total }) => total));
    expect(leading('Connections of one address (IPv6: of one /64)')).toEqual([String(full.perPeer), 'none']);
    // All clients through the tunnel have one address.
    expect([readOnly.perPeer, readOnly.smallPeer]).toEqual([readOnly.total, readOnly.total]);
    expect(page).toContain(`if that has more than ${full.smallPeer};`);
    expect(leading('Headers, from the first byte or from the connect')).toEqual(both((limits) => s(limits.headersMs)));
    expect(leading('Body, from the end of the headers')).toEqual([s(full.bodyMs), 'none is read']);
    const upload = `${full.uploadWindowBytes / 1024} KiB in each ${s(full.uploadWindowMs)}`;
    expect(leading('Upload of a signed-in person')?.[0]).toBe(upload);
    expect(leading('Answer of which nothing is read')).toEqual(both((limits) => s(limits.unreadMs)));
    expect(leading('No byte in either direction while an answer is in progress')).toEqual(
      both((limits) => s(limits.silentMs)),
    );
    expect(leading('Idle between two requests')).toEqual(both((limits) => s(limits.keepAliveMs)));
    expect(leading('Pipelined requests waiting on one connection')).toEqual(both(({ pipelined }) => pipelined));
    for (const limits of Object.values(connectionLimits)) expect(limits.silentMs % limits.unreadMs).toBe(0);
  });
});
