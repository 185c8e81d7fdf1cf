import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { escapeMarkup, markup } from '../../../src/lib/markup/index.ts';
import { noSupport } from '../../../src/lib/operator/index.ts';
import { spanText } from '../../../src/lib/operator/pages/number-text.ts';
import { pageView } from '../../../src/lib/operator/pages/view.ts';
import { ask, startServer } from '../server.ts';
import { snapshotWith, tried } from '../stand-ins.ts';

const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u0000\'&';

describe('the pages', () => {
  it('show not connected, the tried address and the duration, without script', async () => {
    await using server = await startServer();
    server.link.setState({ kind: 'not-connected', failure: 'no-answer', detail: 'nothing answered', tried });
    for (const [port, path] of [
      [server.full, '/'],
      [server.full, '/service'],
      [server.readOnly, '/'],
      [server.readOnly, '/service'],
    ] as const) {
      const { status, headers, data } = await ask(port, path);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(data).toContain('Nicht verbunden (not connected)');
      expect(data).toContain('127.0.0.1:8090');
      expect(data).toContain('seit 1,5\u00a0s');
      expect(data).toContain('<noscript><meta http-equiv="refresh"');
    }
  });

  it('show each value with its age, and on the technician page its mark and source', async () => {
    await using server = await startServer();
    const { data } = await ask(server.full, '/service');
    expect(data).toContain('>x 1,25 m, y -2,50 m<');
    expect(data).toContain('>90,0°<');
    expect(data).toContain('vor 0,4\u00a0s');
    expect(data).toContain('BELEGT gemessen: test');
    expect(data).toContain('Nicht geprüft: In der Standortdatei steht kein Schlüssel dafür');
  });

  it('contain no text of a device as markup, and no inline script', async () => {
    await using server = await startServer();
    server.link.setState({ kind: 'not-connected', failure: 'wrong-device', detail: evil, foundSerial: evil, tried });
    await server.motion.stopRobot(evil, evil);
    for (const path of ['/', '/service', '/anmeldung']) {
      const { data } = await ask(server.full, path);
      expect(data).not.toMatch(/<script>|<img|onerror=alert\(1\)>/);
      expect(data).toContain('Hotel &lt;Test&gt;');
      for (const [script] of data.matchAll(/<script[^>]*>/g)) expect(script).toContain('src="/assets/live.js"');
      expect(data).not.toMatch(/<[^>]* on[a-z]+=/i);
      expect(data).not.toMatch(/ style=/);
    }
  });

  it('mark an element for every value that live events update, and for no other', async () => {
    await using server = await startServer();
    const cloud = { view: noCloud, now: new Date(0) };
    const link = snapshotWith({ kind: 'connected', tried });
    const view = pageView(link, server.motion.status(), server.health, cloud, noSupport);
    const places = async (path: string) =>
      [...(await ask(server.full, path)).data.matchAll(/data-live="([^"]+)"/g)].map((match) => String(match[1]));
    const all = new Set([...(await places('/')), ...(await places('/service'))]);
    expect([...all].sort()).toEqual(Object.keys(view.texts).sort());
  });

  it('state that no device password is set, where none is', async () => {
    await using server = await startServer();
    const { data } = await ask(server.full, '/anmeldung');
    expect(data).toContain('gw operator password');
    expect(data).not.toContain('action="/api/anmeldung"');
  });
});

describe('markup', () => {
  it('cannot be broken out of by any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeMarkup(text)).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|#39);)/);
        expect(escapeMarkup(text)).not.toContain('\u0000');
        const page = markup`<a title="${text}">${[text, null, 7]}</a>`.toString();
        expect(page.match(/[<>]/g)).toHaveLength(4);
        expect(page.match(/"/g)).toHaveLength(2);
      }),
    );
  });

  it('inserts existing markup unchanged', () => {
    expect(markup`<p>${markup`<b>${'<'}</b>`}</p>`.toString()).toBe('<p><b>&lt;</b></p>');
  });
});

describe('durations', () => {
  it('are formatted for people', () => {
    expect([0, 400, 9_940, 45_600, 119_000, 720_000, 18_000_000, -5].map(spanText)).toEqual([
      '0,0\u00a0s',
      '0,4\u00a0s',
      '9,9\u00a0s',
      '45\u00a0s',
      '119\u00a0s',
      '12\u00a0min',
      '5\u00a0h',
      '0,0\u00a0s',
    ]);
  });
});
