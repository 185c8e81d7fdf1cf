import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderTunnelConnect } from '../../../src/cli/render/tunnel.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import {
  checkedToken,
  compareRegions,
  connectTunnel,
  placeOfTunnel,
  servicesOf,
} from '../../../src/lib/toolkit/tunnel/connect.ts';
import { type TunnelConnectEvent, tunnelConnectSchema } from '../../../src/lib/toolkit/tunnel/tunnel.result.ts';
import { createWorld, type World } from '../../tunnel/relay-world.ts';
import { anyText, forAll } from '../kit.ts';

const REGION = 'eu-central-1';
const AMAZON = 'data.tunneling.iot.eu-central-1.amazonaws.com';
const siteWith = (cloud: unknown) => ({ cloud }) as Site;
const site = siteWith({
  region: REGION,
  caFile: '/ca.pem',
  tunnel: { host: 'tunnel.example.com', port: 8443, subprotocol: 'x.securetunneling-3.0' },
});

describe('where the tunnel service is', () => {
  test('of the site file, or of the options, which then replace all of it', () => {
    expect(placeOfTunnel(site, {})).toEqual({
      host: 'tunnel.example.com',
      port: 8443,
      subprotocol: 'x.securetunneling-3.0',
      caFile: '/ca.pem',
    });
    expect(placeOfTunnel(null, { host: 'other.example.com', caFile: '/own.pem' })).toEqual({
      host: 'other.example.com',
      port: 443,
      subprotocol: 'securetunneling-3.0',
      caFile: '/own.pem',
    });
    expect(placeOfTunnel(site, { caFile: '/own.pem' }).caFile).toBe('/own.pem');
    expect(() => placeOfTunnel(siteWith({ region: REGION }), {})).toThrow(/names no tunnel service/);
    expect(() => placeOfTunnel(siteWith(undefined), {})).toThrow(/names no tunnel service/);
  });
});

describe('the region', () => {
  test.each([
    ['the asked one and the site file', site, 'eu-west-1', 'tunnel.example.com'],
    ['the asked one and the host', null, 'eu-west-1', AMAZON],
    ['the site file and the host', siteWith({ region: 'us-east-1' }), undefined, AMAZON],
    ['a region that begins with the asked one', null, 'eu-central-10', AMAZON],
    ['the host of another owner', site, undefined, 'tunnel.eu-west-1.example.com'],
  ])('%s differ: refused', (_, from, asked, host) => {
    expect(() => compareRegions(from, asked, host)).toThrow(/^Other region/);
  });

  test("only a provider's host name shows a region; everything else is not checked", () => {
    expect(compareRegions(null, REGION, AMAZON)).toMatchObject({ expected: REGION, status: 'ok' });
    expect(compareRegions(site, REGION, AMAZON).status).toBe('ok');
    expect(compareRegions(null, undefined, AMAZON)).toMatchObject({ expected: null, status: 'not-checked' });
    for (const host of ['tunnel.example.com', '127.0.0.1', '::1', 'localhost', `tunnel.${REGION}.example.com`]) {
      expect(compareRegions(site, REGION, host)).toMatchObject({ expected: REGION, status: 'not-checked' });
    }
  });
});

describe('services and ports', () => {
  test('each service with its port, 0 for any', () => {
    expect(servicesOf(['web', 'a:b'], ['a:b=8080'])).toEqual([
      { id: 'web', port: 0 },
      { id: 'a:b', port: 8080 },
    ]);
  });

  test.each([
    [[], []],
    [['a', 'b', 'c', 'd'], []],
    [['web', 'web'], []],
    [[''], []],
    [['a b'], []],
    [['web'], ['web']],
    [['web'], ['web=0']],
    [['web'], ['web=65536']],
    [['web'], ['web=8080=1']],
    [['web'], ['=8080']],
    [['web'], ['api=8080']],
    [['web'], ['web=1', 'web=2']],
    [
      ['web', 'api'],
      ['web=8080', 'api=8080'],
    ],
  ])('%j with --listen %j is refused', (services, listen) => {
    expect(() => servicesOf(services, listen)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  test('property: either a refusal, or exactly the asked services with the asked ports', { tags: 'property' }, () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constantFrom('web', 'api', 'web=1', 'api=70000', 'web=8080'),
    );
    forAll(fc.array(text, { maxLength: 4 }), fc.array(text, { maxLength: 3 }), (services, listen) => {
      try {
        const found = servicesOf(services, listen);
        expect(found.map(({ id }) => id)).toEqual(services);
        expect(found.filter(({ port }) => port !== 0)).toHaveLength(listen.length);
        for (const { id, port } of found)
          if (port !== 0) expect(listen.map((each) => each.replace(/=0+/, '='))).toContain(`${id}=${port}`);
      } catch (error) {
        if (!(error instanceof GwError)) throw error;
        expect(error.code).toBe('USAGE');
      }
    });
  });

  test('property: a token is taken as it is, or refused without being repeated', { tags: 'property' }, () => {
    forAll(anyText(60), (text) => {
      try {
        expect(checkedToken(text)).toBe(text.trim());
        expect(text.trim()).toMatch(/^[\x21-\x7e]+$/);
      } catch (error) {
        if (!(error instanceof GwError)) throw error;
        if (text.trim().length > 6) expect(JSON.stringify(error.toJSON())).not.toContain(text.trim());
      }
    });
    expect(checkedToken(' abc\n')).toBe('abc');
    expect(() => checkedToken('x'.repeat(4_097))).toThrow();
  });
});

describe('before the token is asked for', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.close());

  test('everything that can be wrong here is checked first, so that the token is not used', async () => {
    const taken = await world.service(() => {});
    const good = { services: ['web'], listen: [], host: '127.0.0.1', port: 1 };
    let asked = 0;
    const readToken = async () => {
      asked += 1;
      return 'token';
    };
    const run = (options: object) =>
      connectTunnel(
        { site: null, clock: systemClock },
        { ...good, ...options, readToken },
        { signal: new AbortController().signal, onProgress: () => {} },
        () => {},
      );
    await expect(run({ services: ['no service'] })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(run({ host: AMAZON, region: 'eu-west-1' })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(run({ caFile: '/no/such/file.pem' })).rejects.toMatchObject({ code: 'SITE_FILE_INVALID' });
    await expect(run({ listen: [`web=${taken.port}`] })).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      remedy: expect.stringContaining('not used'),
    });
    expect(asked).toBe(0);
  });
});

describe('the text', () => {
  const at = '2026-01-02T03:04:05.000Z';
  const ready: TunnelConnectEvent = {
    event: 'ready',
    at,
    host: 'tunnel.example.com',
    port: 443,
    channelId: null,
    services: ['web'],
    listeners: [{ service: 'web', host: '127.0.0.1', port: 8080, url: 'http://127.0.0.1:8080/' }],
    region: { expected: null, status: 'not-checked', detail: 'no region to compare with' },
    robotSide: 'not-checked',
  };
  const plain = (event: TunnelConnectEvent) =>
    stripVTControlCharacters(renderTunnelConnect(tunnelConnectSchema.parse(event)));

  test('its first line says what to open; what is not known yet is reported as not checked', () => {
    const lines = plain(ready).split('\n');
    expect(lines[0]).toBe('Open http://127.0.0.1:8080/ in a browser: read-only page of the robot, through the tunnel.');
    expect(lines).toContain("Robot's side not checked: whether it is connected shows with its first answer.");
    expect(lines).toContain('Region not checked: no region to compare with.');
  });

  test('a connection that the robot closes without an answer is not shown as an orderly one', () => {
    const closed = { event: 'closed', at, service: 'web', connection: 3, open: 0, bytesUp: 90 } as const;
    expect(plain({ ...closed, reason: 'remote', bytesDown: 0 })).toContain('without an answer');
    expect(plain({ ...closed, reason: 'remote', bytesDown: 9 })).not.toContain('without an answer');
    expect(plain({ ...closed, reason: 'stalled', bytesDown: 9 })).toContain('does not read');
  });

  test('foreign text reaches the terminal without control characters', () => {
    const evil = ['\u001b[2J', '\u202e'];
    const lost = { event: 'lost', at, detail: evil.join(''), retryInMs: 900, wasReady: true } as const;
    for (const each of evil) expect(renderTunnelConnect(lost)).not.toContain(each);
    expect(plain({ event: 'reconnected', at, channelId: null })).toContain("robot's side not checked");
  });
});
