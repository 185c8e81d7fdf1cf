import { calledServices, isThisMachine } from './rules.ts';
import type { deviceKinds, SiteFile } from './schema.ts';

/** One device or service that the site file names. */
export interface AgreedDevice {
  readonly id: string;
  readonly name: string;
  readonly kind: (typeof deviceKinds)[number] | 'building' | 'voice';
  /** IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** On the gateway itself, as the specification notes of the accessibility services: no firewall is on the way. */
  readonly isHere: boolean;
}

/** Doors, lifts and other devices of the site file, with the services that the operator server forwards to. */
export function agreedDevices(site: Pick<SiteFile, 'network' | 'operator'>): AgreedDevice[] {
  const names = { building: 'the building module', voice: 'the voice service' } as const;
  return [
    ...site.network.devices.map((device, index) => ({ ...device, id: `device-${index + 1}` })),
    ...calledServices(site).map(({ id, host, port }) => ({ id, kind: id, name: names[id], host, port })),
  ].map((device) => ({ ...device, isHere: isThisMachine(device.host) }));
}
