import { describe, expect, it, vi } from 'vitest';
import type { Route, routes } from '../../../src/lib/operator/routes.ts';
import { get, startServer } from '../server.ts';

vi.mock('../../../src/lib/operator/routes.ts', async (original) => {
  const real = (await original()) as { readonly routes: typeof routes };
  /** Added without the allow list, past the compiler. */
  const forgotten = { method: 'GET', path: '/api/neu', signedIn: false, handler: 'gateway.neighbours' };
  return { ...real, routes: [...real.routes, forgotten as unknown as Route] };
});

describe('a new route of the real table', () => {
  it('is closed on the read-only socket until it is on the allow list, and open on the full one', async () => {
    await using server = await startServer();
    for (const path of ['/api/neu', '/api/neu?a=1', '/api/./neu', '/api//neu']) {
      expect((await get(server.readOnly, path)).status, path).toBe(403);
    }
    const full = await get(server.full, '/api/neu');
    expect(full.status).toBe(200);
  });
});
