import type { CertificateAuthority } from '../cloud/certificates.ts';
import { type Cloud, startCloud } from '../cloud/cloud.ts';
import type { CloudSettings } from '../cloud/model.ts';
import { openReleaseKey } from '../cloud/services/release.ts';
import type { PartStart } from './part-start.ts';

interface CloudPart {
  readonly cloud: Cloud;
  /** Public key of releases, relative to the folder; null without a folder. */
  readonly releaseKeyFile: string | null;
}

/** Starts the broker, the storage and the tunnel service. */
export async function startCloudPart(
  start: PartStart,
  ca: CertificateAuthority,
  settings: CloudSettings | undefined,
): Promise<CloudPart> {
  const { undo, stages, onEvent, clock, faults, serial, dir } = start;
  stages.enter('the certificates and ports of the broker, the storage and the tunnel service');
  const cloud = undo.use(
    await startCloud({
      ...settings,
      ca,
      faults,
      clock,
      serial,
      onClosed: ({ clientId, reason }) =>
        onEvent({ event: 'note', text: `The MQTT broker closed the connection of '${clientId}': ${reason}.` }),
      onTunnelViolation: (side, reason) =>
        onEvent({ event: 'note', text: `The tunnel service closed the connection of the ${side}: ${reason}.` }),
    }),
  );
  stages.enter('the key of releases');
  const releaseKeyFile = dir === undefined ? null : await openReleaseKey(dir);
  const { mqtt, storageUrl, tunnel } = cloud.places;
  onEvent({ event: 'listening', part: 'mqtt', url: `mqtts://${mqtt.host}:${mqtt.port}` });
  onEvent({ event: 'listening', part: 'mqtt-alpn', url: `mqtts://${mqtt.host}:${mqtt.fallbackPort}` });
  onEvent({ event: 'listening', part: 'storage', url: storageUrl });
  onEvent({ event: 'listening', part: 'tunnel', url: `wss://${tunnel.host}:${tunnel.port}` });
  return { cloud, releaseKeyFile };
}
