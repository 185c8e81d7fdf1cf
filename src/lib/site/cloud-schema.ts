import { z } from 'zod';
import { file, host, httpsUrl, port, words } from './key-types.ts';
import { defaultTemplates, SERIAL_ELEMENT, type TopicKey, usesOf } from './topic-uses.ts';

/** Where the cloud is. @source specification, 'Network segments' */
export const CLOUD_REGION = 'eu-central-1';

/** Limit of a common MQTT service for a whole topic name. @source vendor, quota page (HINWEIS) */
const MAX_SLASHES = 7;
const MAX_TEMPLATE_LENGTH = 120;

/**
 * A topic template.
 * @source specification, 'Addressing rules' 1: the serial number is a path element of every topic
 */
function topic(key: TopicKey, description: string) {
  const depth = Math.max(...usesOf(key).map((appended) => appended.split('/').length - 1));
  return z
    .string()
    .max(MAX_TEMPLATE_LENGTH)
    .refine((text) => text.split('/').includes(SERIAL_ELEMENT), `a topic with ${SERIAL_ELEMENT} as one path element`)
    .refine(
      (text) => text.split('/').every((element) => /^([A-Za-z0-9$_.:-]+|<serial>)$/.test(element)),
      `path elements of letters, digits, $, _, ., : and -, without the wildcards + and #`,
    )
    .refine(
      (text) => text.split('/').length - 1 + depth <= MAX_SLASHES,
      `at most ${MAX_SLASHES} slashes, including those that gw appends`,
    )
    .default(defaultTemplates[key])
    .describe(description);
}

const topics = z
  .strictObject({
    telemetry: topic('telemetry', 'Telemetry of this robot; published.'),
    faults: topic('faults', 'Raised and cleared faults; published.'),
    records: topic('records', 'Records: stops from the cloud, support sessions, thinned telemetry; published.'),
    presence: topic('presence', 'Presence, also the last will; published.'),
    stop: topic('stop', 'Stop messages; subscribed.'),
    storage: topic('storage', 'Requests for pre-signed URLs; the answers have /answer appended.'),
    jobs: topic('jobs', 'Start of the topics of the job service, which delivers releases.'),
    shadow: topic('shadow', 'Start of the topics of the device shadow.'),
    tunnels: topic('tunnels', 'Notifications of the tunnel service; subscribed.'),
  })
  .prefault({})
  .describe('Topic templates.');

const outbox = z
  .strictObject({
    maxMb: z
      .int()
      .min(1)
      .max(100_000)
      .default(256)
      .describe(
        'Size limit of the outbox on the disk in megabytes; when it is reached, the oldest telemetry is thinned.',
      ),
    maxPerSecond: z.int().min(1).max(1_000_000).default(50).describe('Max. number of messages published per second.'),
  })
  .prefault({})
  .describe('Messages that are kept until the broker has acknowledged them.');

const release = z
  .strictObject({
    keyFile: file.meta({
      description:
        'File with the Ed25519 public key (PEM) that signs releases, or with the old and the new one during a change of key; without it every release is rejected.',
      example: 'release-key.pem',
    }),
    dir: file.default('releases').describe('Folder of the installed releases, one folder per version.'),
    healthWithinS: z
      .int()
      .min(10)
      .max(3_600)
      .default(180)
      .describe('Seconds within which a new release must be healthy after its start; otherwise it is rolled back.'),
  })
  .meta({ description: 'Releases from the cloud.', example: { keyFile: 'release-key.pem' } });

export const cloud = z
  .strictObject({
    region: words(64).default(CLOUD_REGION).describe('Region in which the endpoints must be.'),
    mqtt: z
      .strictObject({
        host: host.optional().meta({
          description: 'Host of the MQTT broker; without it that of the enrolment.',
          example: 'mqtt.example.com',
        }),
        port: port.default(8883).describe('TCP port, 1 to 65535.'),
        fallbackPort: port
          .default(443)
          .describe('TCP port for networks that allow no other outgoing port; requires ALPN.'),
        alpn: z
          .string()
          .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 printable ASCII characters without blanks')
          .meta({
            description: 'ALPN identifier required by the broker on the fallback port: x-<vendor>-mqtt-ca.',
            example: 'x-example-mqtt-ca',
          }),
        caFile: file.optional().meta({
          description: 'File with the certificates (PEM) trusted for the broker; without it those of the enrolment.',
          example: 'broker-ca.pem',
        }),
      })
      .describe('The MQTT broker.'),
    storageUrl: httpsUrl.optional().meta({
      description: 'https:// address of the object storage: the start of its pre-signed URLs.',
      example: 'https://storage.example.com',
    }),
    tunnel: z
      .strictObject({
        host: host.meta({ description: 'Host of the secure tunnel service.', example: 'tunnel.example.com' }),
        port: port.default(443).describe('TCP port, 1 to 65535.'),
        subprotocol: z
          .string()
          .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'a name of a WebSocket subprotocol')
          .default('securetunneling-3.0')
          .meta({
            description: 'WebSocket subprotocol required by the service; its vendor puts its own name before it.',
            example: 'vendor.securetunneling-3.0',
          }),
        services: z
          .array(
            z
              .string()
              .regex(
                /^[A-Za-z0-9_-]{1,128}$/,
                'a name of letters, digits, _ and -, without an address: every service leads to 127.0.0.1:5174',
              ),
          )
          .min(1)
          .max(16)
          .refine((names) => new Set(names).size === names.length, 'each name once')
          .default(['web'])
          .describe('Services that a support session may name; each is the read-only socket 127.0.0.1:5174.'),
        maxMinutes: z
          .int()
          .min(1)
          .max(720)
          .default(60)
          .describe('Minutes after which the gateway ends a support session, whatever the cloud does.'),
      })
      .optional()
      .meta({ description: 'The secure tunnel service of remote support.', example: { host: 'tunnel.example.com' } }),
    topics,
    telemetryS: z.int().min(1).max(3_600).default(10).describe('Interval of telemetry in seconds.'),
    outbox,
    release: release.optional(),
    caFile: file.optional().meta({
      description:
        'File with the CA certificates (PEM) trusted for object storage and tunnel, instead of those of Node and the operating system.',
      example: 'cloud-ca.pem',
    }),
  })
  .meta({
    description: 'Endpoints in the cloud of the operator that this device must reach.',
    example: { mqtt: { host: 'mqtt.example.com', alpn: 'x-example-mqtt-ca' } },
  });

/**
 * Minimum TLS version of every outgoing connection. Set explicitly, because the default of Node can be lowered from
 * outside (`NODE_OPTIONS=--tls-min-v1.0`). Project decision; TLS 1.0 and 1.1 are deprecated.
 * @source RFC 8996
 */
export const MIN_TLS_VERSION = 'TLSv1.2';
