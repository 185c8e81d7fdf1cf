import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { gwBinary } from '../e2e/gw.ts';
import { ACCESS, CLIENT, SUBPROTOCOL } from '../tunnel/proxy/world.ts';
import { type Cable, layCable } from './cable.ts';
import { inside } from './namespace.ts';
import { hasNamespaces, ip } from './peer.ts';

const serviceChild = fileURLToPath(new URL('./tunnel-service-child.ts', import.meta.url));
const PORT = '4443';

/** The proxy of a session, on one side of the cable; the tunnel service is on the other. */
async function connected({ near, far, farAddress }: Cable) {
  const service = inside(far, [serviceChild, farAddress, PORT]);
  await service.untilOutput('caFile');
  const { caFile } = JSON.parse(service.output()) as { caFile: string };
  const flags = ['--tunnel-host', farAddress, '--tunnel-port', PORT, '--subprotocol', SUBPROTOCOL, '--service', 'web'];
  const proxy = inside(near, [gwBinary, 'tunnel', 'proxy', ...flags, '--ca-file', caFile, '--timeout', '120'], {
    env: { GW_TUNNEL_TOKEN: ACCESS, GW_TUNNEL_CLIENT_TOKEN: CLIENT },
    input: null,
  });
  await proxy.untilOutput('"event":"services"');
  return { service, proxy };
}

describe.skipIf(!hasNamespaces())('the proxy of a session at the end of a cable (network namespaces)', () => {
  it.each([
    ['its own end is down', 'near'],
    ['the cable is cut', 'far'],
  ] as const)('ends with the exit code of a lost network when %s', async (_what, end) => {
    using cable = layCable('gw-t');
    const { service, proxy } = await connected(cable);
    await using _service = service;
    await using _proxy = proxy;
    ip('-n', cable[end], 'link', 'set', cable[`${end}Device`], 'down');
    const { code, stdout } = await proxy.closed;
    expect(code).toBe(3);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'ended',
      exit: 'network-lost',
      detail: expect.stringContaining('for 10 s'),
    });
  });

  it('lasts over a short interruption', async () => {
    using cable = layCable('gw-t');
    const { service, proxy } = await connected(cable);
    await using _service = service;
    await using _proxy = proxy;
    ip('-n', cable.far, 'link', 'set', cable.farDevice, 'down');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    ip('-n', cable.far, 'link', 'set', cable.farDevice, 'up');
    await new Promise((resolve) => setTimeout(resolve, 9_000));
    expect(proxy.hasEnded()).toBe(false);
  });
});
