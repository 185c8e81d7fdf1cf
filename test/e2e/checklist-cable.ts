import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inside } from '../peers/namespace.ts';
import { ip } from '../peers/peer.ts';
import { gwBinary } from './gw.ts';

// Addresses for documentation, used only inside the two namespaces that are made here.
const GATEWAY = '192.0.2.1';
const CHASSIS = '192.0.2.2';
/** The address range of both. */
export const SEGMENT = '192.0.2.0/28';

export interface Cable extends AsyncDisposable {
  readonly dir: string;
  /** Site file of the gateway; `gw serve` runs with it in its namespace. */
  readonly site: string;
  readonly gatewaySide: string;
  /** Hardware address of the chassis, as the site file has it. */
  readonly mac: string;
}

/** A gateway and a simulated chassis, each in a network namespace of its own, with a cable between them. */
export async function openCable(): Promise<Cable> {
  await using undo = new AsyncDisposableStack();
  const [gatewaySide, chassisSide] = [`gw-f-${process.pid}`, `gw-g-${process.pid}`];
  for (const side of [gatewaySide, chassisSide]) {
    ip('netns', 'add', side);
    undo.defer(() => void ip('netns', 'del', side));
  }
  ip('link', 'add', 'gw0', 'netns', gatewaySide, 'type', 'veth', 'peer', 'name', 'gw1', 'netns', chassisSide);
  for (const [side, device, address] of [
    [gatewaySide, 'gw0', GATEWAY],
    [chassisSide, 'gw1', CHASSIS],
  ] as const) {
    ip('-n', side, 'addr', 'add', `${address}/24`, 'dev', device);
    ip('-n', side, 'link', 'set', 'lo', 'up');
    ip('-n', side, 'link', 'set', device, 'up');
  }
  const [link] = JSON.parse(ip('-n', chassisSide, '-j', 'link', 'show', 'gw1')) as { address: string }[];
  const mac = link?.address ?? '';

  const dir = await mkdtemp(join(tmpdir(), 'gw-cable-'));
  undo.defer(() => rm(dir, { recursive: true, force: true }));
  const simArgs = ['sim', '--dir', join(dir, 'sim'), '--chassis-port', '8090', '--json'];
  const sim = undo.use(inside(chassisSide, [gwBinary, ...simArgs]));
  await sim.untilOutput('"event":"ready"');
  // The simulator listens on its own loopback only; this forwards its port to the cable.
  const carry = `
    const { connect, createServer } = require('node:net');
    createServer((here) => {
      const there = connect(8090, '127.0.0.1');
      for (const socket of [here, there]) socket.on('error', () => {});
      here.pipe(there).pipe(here);
    }).listen(8090, '${CHASSIS}', () => console.log('carrying'));`;
  const carrier = undo.use(inside(chassisSide, ['-e', carry]));
  const site = join(dir, 'site.yaml');
  const chassis = `{ host: ${CHASSIS}, port: 8090, serial: SIM-0001, mac: "${mac}" }`;
  const network = `{ robotSegment: ${SEGMENT}, gateway: ${GATEWAY} }`;
  await writeFile(site, `name: On a cable\nchassis: ${chassis}\nnetwork: ${network}\n`);
  await carrier.untilOutput('carrying');
  const serve = undo.use(inside(gatewaySide, [gwBinary, 'serve', '--site', site, '--json']));
  await serve.untilOutput('"event":"ready"');
  const open = undo.move();
  return { dir, site, gatewaySide, mac, [Symbol.asyncDispose]: () => open.disposeAsync() };
}
