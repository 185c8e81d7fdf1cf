import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { scheduled } from '../../../src/lib/operator/http/handler.ts';
import { incidentHandlers } from '../../../src/lib/operator/incidents/incident-handlers.ts';
import type { Parts } from '../../../src/lib/operator/parts.ts';
import { standInClock } from '../stand-ins.ts';

/** A server with the list of incidents at `/open` and, for the signed in, at `/signed-in`; counts how often it is made JSON. */
async function setUp() {
  const clock = standInClock();
  const made: string[] = [];
  let folder = '/var/lib/gw';
  const listOf = (shown: string) => ({
    folder: shown,
    toJSON() {
      made.push(shown);
      return { folder: shown, incidents: [] };
    },
  });
  const incidents = { list: async () => listOf(folder) };
  const { list } = incidentHandlers({ clock, incidents } as unknown as Parts);
  const app = fastify();
  app.decorate('withoutPaths', (({ folder: path }: { folder: string }) => listOf(path.replace(/.*\//, ''))) as never);
  for (const signedIn of [true, false]) {
    const config = { row: { signedIn } } as never;
    app.route({ method: 'GET', url: signedIn ? '/signed-in' : '/open', config, handler: scheduled(list, {}) });
  }
  const answer = async (url: string) => {
    const { payload, headers } = await app.inject({ url });
    return { payload, type: headers['content-type'], bytes: headers['content-length'] };
  };
  return {
    ...{ clock, made, answer },
    move(path: string) {
      folder = path;
    },
  };
}

describe('the list of incidents', () => {
  it('is made JSON once for all readers of one moment, with absolute paths for the signed in alone', async () => {
    const { made, answer, clock, move } = await setUp();
    const readers = ['/open', '/signed-in', '/open', '/open', '/signed-in'];
    const answers = await Promise.all(readers.map(answer));
    const open = '{"folder":"gw","incidents":[]}';
    const signedIn = '{"folder":"/var/lib/gw","incidents":[]}';
    const type = 'application/json; charset=utf-8';
    expect(answers).toEqual(
      readers.map((url) => {
        const payload = url === '/open' ? open : signedIn;
        return { payload, type, bytes: `${payload.length}` };
      }),
    );
    expect(made.toSorted()).toEqual(['/var/lib/gw', 'gw']);
    move('/srv/robot');
    clock.advance(499);
    expect((await answer('/open')).payload).toBe(open);
    clock.advance(1);
    expect((await answer('/open')).payload).toBe('{"folder":"robot","incidents":[]}');
    expect(made).toHaveLength(3);
  });
});
