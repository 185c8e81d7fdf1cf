import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { refusalTable, statusOfError } from '../../src/lib/operator/refusal.ts';
import { startServer } from './server.ts';

const page = await readFile(new URL('../../docs/operator.md', import.meta.url), 'utf8');

describe('docs/operator.md', () => {
  it('lists every route of the application and no other, with what the read-only socket answers', async () => {
    await using server = await startServer();
    const documented = [...page.matchAll(/^\| (GET|POST|DELETE) \| `([^`]+)` \| (\d+) \| (\d+) \|/gm)].map(
      ([, method, path, full, readOnly]) => ({
        route: `${method} ${path}`,
        full: Number(full),
        readOnly: Number(readOnly),
      }),
    );
    const actual = server.application.routes.map(({ method, path, readOnly, signedIn }) => ({
      route: `${method} ${path.replace(/:id\([^)]*\)/, '<map_id>').replace(':name', '<name>')}`,
      readOnly: readOnly ? (signedIn ? 401 : 200) : 403,
      needsSession: signedIn,
    }));
    expect(documented.map(({ route }) => route)).toEqual(actual.map(({ route }) => route));
    expect(documented.map(({ readOnly }) => readOnly)).toEqual(actual.map(({ readOnly }) => readOnly));
    expect(documented.map(({ full }) => full === 401)).toEqual(actual.map(({ needsSession }) => needsSession));
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
});
