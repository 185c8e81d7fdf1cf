import { z } from 'zod';

/**
 * The site file: one YAML file per robot. One schema gives type, checks, the commented example and the page
 * docs/site-file.md. Unknown keys are errors. Paths are relative to the site file's folder. Secrets never stand
 * in it: it names their files.
 *
 * There is deliberately no key for the read-only socket: it is 127.0.0.1:5174 by a constant of the operator room.
 */

const host = z
  .string()
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$/, 'a host name or an address, without port and without scheme')
  .max(253)
  .describe('Host name or address (IPv6 without brackets).');
const port = z.int().min(1).max(65535).describe('TCP port, 1 to 65535.');
const file = z.string().min(1).describe('Path, relative to the folder of the site file.');
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'letters, digits, - and _, at most 64');
const httpUrl = z.url({ protocol: /^https?$/ }).describe('http:// or https:// address with the port it needs.');
const metres = z.number().min(-10_000).max(10_000);

const chassis = z
  .strictObject({
    host: host.describe('Where the chassis answers: the address of its DHCP reservation.'),
    port: port.default(8090).describe('TCP port of the chassis interface.'),
    serial: z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,128}$/, '1 to 128 letters, digits, :, _ or -')
      .describe('Serial number: the identity of this robot, as GET /device/info gives it.'),
    mac: z
      .string()
      .regex(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i, 'six pairs of hex digits with colons')
      .describe('MAC address that the DHCP reservation is keyed to.')
      .optional(),
    secretFile: file
      .describe('File with the value of the Secret request header, if this chassis asks for one. It protects nothing.')
      .optional(),
  })
  .describe('The chassis of this robot.');

const operator = z
  .strictObject({
    port: port.default(5173).describe('TCP port of the full operator surface, on all interfaces.'),
    names: z
      .array(host)
      .max(32)
      .default([])
      .describe('Further host names by which tablets call this gateway (addresses and localhost always work).'),
    passwordFile: file
      .describe('File with the scrypt hash of the device password; see `gw operator password`.')
      .optional(),
    mediaDir: file.default('media').describe('Folder of the media library.'),
    voice: z.strictObject({ url: httpUrl }).describe('The voice service of this site.').optional(),
    building: z.strictObject({ url: httpUrl }).describe('The building IoT module of this site.').optional(),
  })
  .describe('The operator server.');

const station = z
  .strictObject({
    xM: metres.describe('Metres on the map.'),
    yM: metres.describe('Metres on the map.'),
    yawDeg: z.number().min(-360).max(360).describe('Heading in degrees, counter-clockwise, 0 along +x.').optional(),
  })
  .describe('A place, named and measured by a person. Never derived from point kinds of the map.');

export const siteSchema = z.strictObject({
  name: z.string().min(1).max(120).describe('What people call this site and robot.'),
  chassis,
  operator: operator.prefault({}),
  stations: z.record(name, station).default({}).describe('Stations that a person named on this site.'),
  dock: z
    .strictObject({ xM: metres, yM: metres, yawDeg: z.number().min(-360).max(360) })
    .describe('Pose of the charging dock, measured by a person.')
    .optional(),
  tours: z
    .record(name, z.strictObject({ stations: z.array(name).min(1).max(200) }))
    .default({})
    .describe('Tours: stations in order.'),
  evidenceFile: file.default('evidence.jsonl').describe('What was verified on this very device, one record a line.'),
  stateDir: file.default('state').describe('Folder for what must survive a restart, such as the stop latch.'),
});

/** The site file as written in it, defaults filled in. */
export type SiteFile = z.infer<typeof siteSchema>;

/** A loaded site: the file's content with every path made absolute. */
export interface Site extends SiteFile {
  /** Absolute path of the site file. */
  readonly path: string;
  /** Absolute folder of the site file. */
  readonly dir: string;
}
