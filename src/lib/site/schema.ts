import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { cloud } from './cloud-schema.ts';
import { delivery } from './delivery-schema.ts';
import { cidr, file, host, httpsUrl, httpUrl, macAddress, name, port, timeZone, title, words } from './key-types.ts';

/**
 * The site file: one YAML file per robot. One schema gives type, validation, the commented example and the page
 * docs/site-file.md. Unknown keys are errors. Paths are relative to the folder of the site file. It contains no
 * secrets, only the names of their files.
 *
 * There is deliberately no key for the read-only socket: it is 127.0.0.1:5174 by a constant of the operator module.
 */

const metres = z.number().min(-10_000).max(10_000);
const heading = z.number().min(-360).max(360);

/** Serial number of a robot. Its characters are safe in topics and file names. */
export const serialSchema = z.string().regex(/^[A-Za-z0-9:_-]{1,128}$/, '1 to 128 letters, digits, :, _ or -');

const chassis = z
  .strictObject({
    host: host.meta({
      description: 'Host name or address of the chassis, from its DHCP reservation.',
      example: '127.0.0.1',
    }),
    port: port.default(8090).describe('TCP port of the chassis interface.'),
    serial: serialSchema.meta({
      description: 'Serial number of the robot, as GET /device/info reports it.',
      example: 'SN0001',
    }),
    mac: macAddress
      .optional()
      .meta({ description: 'MAC address of the DHCP reservation.', example: '02:00:00:00:00:01' }),
    secretFile: file.optional().meta({
      description:
        'File with the value of the Secret request header, if this chassis requires one. It protects nothing.',
      example: 'secrets/chassis',
    }),
  })
  .describe('The chassis of this robot.');

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'a time of day from 00:00 to 23:59');

const screen = z
  .strictObject({
    dimAfterMinutes: z
      .int()
      .min(1)
      .max(1_440)
      .optional()
      .meta({ description: 'Minutes without a touch after which the operator surface dims.', example: 10 }),
    night: z
      .strictObject({
        from: timeOfDay.describe('Begin of the night.'),
        to: timeOfDay.describe('End of the night, also of the next day.'),
      })
      .refine(({ from, to }) => from !== to, 'two different times')
      .optional()
      .meta({
        description: 'At night, by the clock and time zone of the gateway, it dims after a minute.',
        example: { from: '22:00', to: '06:00' },
      }),
    shift: z
      .boolean()
      .default(false)
      .describe('Whether the operator surface moves by a few pixels every three minutes, against burn-in.'),
  })
  .optional()
  .meta({
    description: 'The screen of the tablet; without this section it neither dims nor moves.',
    example: { dimAfterMinutes: 10, night: { from: '22:00', to: '06:00' }, shift: true },
  });

const operator = z
  .strictObject({
    port: port.default(5173).describe('TCP port of the full operator surface, on all interfaces.'),
    names: z
      .array(host)
      .max(32)
      .default([])
      .meta({
        description: 'Further host names of this gateway in URLs of tablets (addresses and localhost always work).',
        example: ['robot-7.local'],
      }),
    passwordFile: file.optional().meta({
      description: 'File with the scrypt hash of the device password; see `gw operator password`.',
      example: 'secrets/password',
    }),
    tourNeedsSignIn: z
      .boolean()
      .default(false)
      .describe('Whether starting a tour or a single drive requires sign-in. Stopping and ending a drive never do.'),
    mediaDir: file.default('media').describe('Folder of the media library.'),
    screen,
    voice: z
      .strictObject({ url: httpUrl })
      .optional()
      .meta({ description: 'The voice service of this site.', example: { url: 'http://127.0.0.1:3001' } }),
    building: z
      .strictObject({ url: httpUrl })
      .optional()
      .meta({
        description:
          'The building IoT module of this site; forwarder, network check and request to the IT read its address here.',
        example: { url: 'http://127.0.0.1:8080' },
      }),
  })
  .describe('The operator server.');

const disk = z
  .strictObject({
    reserveMb: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(256)
      .describe('Megabytes that uploads leave free; with less, the health of the gateway is degraded.'),
    mediaMb: z.int().min(1).max(1_000_000).default(2_000).describe('Size limit of the media library in megabytes.'),
  })
  .prefault({})
  .meta({ description: 'Disk space of this gateway.', example: { mediaMb: 500 } });

/** A map in which places were measured, as the chassis identified it then. */
const measuredMap = z.strictObject({
  uid: words(200).describe('`uid` of the map, as the chassis reports it.'),
  version: z
    .int()
    .nullable()
    .describe('`map_version` when the places were measured; null where the chassis reports none.'),
  robot: serialSchema
    .optional()
    .describe(
      'Serial number of the robot with which the places were measured or checked; `gw site map` writes it. The gateway of another one drives to none of them. Absent: of any.',
    ),
  id: words(64).optional().describe('Number of the map in `gw map list`, for people only.'),
  title: title.optional().describe('Name of the map or floor, for people only.'),
});

const mapOfPlace = name
  .optional()
  .describe('Map in which it was measured, a key of `maps`. Absent: the only one there.');

const station = z
  .strictObject({
    title: title.optional().describe('Name for people, on pages and in questions: one text, or `{ de: …, en: … }`.'),
    group: title.optional().describe('Name of the group in which the pages list it, such as a floor or a wing.'),
    xM: metres.describe('Metres on its map.'),
    yM: metres.describe('Metres on its map.'),
    yawDeg: heading.optional().describe('Heading in degrees, counter-clockwise, 0 along +x.'),
    map: mapOfPlace,
  })
  .describe('A named place, measured by a person. Never derived from point kinds of the map.');

const dock = z.strictObject({
  xM: metres.describe('Metres on its map.'),
  yM: metres.describe('Metres on its map.'),
  yawDeg: heading.describe('Heading in degrees, counter-clockwise, 0 along +x.'),
  map: mapOfPlace,
});

const tour = z.strictObject({
  title: title.optional().describe('Name for people, as that of a station.'),
  stations: z.array(name).min(1).max(200).describe('Names of stations, in driving order.'),
});

const fleet = z
  .strictObject({
    keyFile: file.meta({
      description: 'File with the key that signs the heartbeat: 64 hex digits, the same on every robot of the site.',
      example: 'secrets/heartbeat',
    }),
    acceptedKeyFiles: z
      .array(file)
      .max(4)
      .default([])
      .meta({
        description: 'Files of further accepted keys, while the key is changed from robot to robot.',
        example: ['secrets/heartbeat-next'],
      }),
    acceptedForHours: z.number().min(1).max(8_760).optional().meta({
      description:
        'Hours after a start of `gw serve` for which they are accepted; after that each is dropped once no heartbeat has been signed with it for an hour. Absent: accepted as long as they are listed.',
      example: 72,
    }),
    robots: z
      .array(serialSchema)
      .max(1000)
      .default([])
      .meta({
        description:
          'Serials of all robots of the site, for `gw heartbeat check`; each has a reserved entry in the tables of the gateway. Only the serial of this robot means that the site has one robot.',
        example: ['SN0001', 'SN0002'],
      }),
    broadcast: z
      .boolean()
      .default(true)
      .describe(
        'Whether each heartbeat is broadcast to 255.255.255.255 on every interface. A broadcast reaches other robots only in the same segment, and the platform has one robot per segment.',
      ),
    unicast: z
      .array(z.ipv4().meta({ type: 'IPv4 address' }))
      .max(256)
      .default([])
      .meta({
        description:
          'Addresses of the gateways of the other robots, each in a segment of its own: UDP 45301 is routed between them.',
        example: ['198.51.100.2'],
      }),
  })
  .meta({
    description: 'The heartbeat to the other robots of the site. Absent: none is sent and none is received.',
    example: { keyFile: 'secrets/heartbeat' },
  });

const enrolment = z
  .strictObject({
    url: httpsUrl.meta({
      description: 'https:// address of the enrolment endpoint of the operator; POST /anmeldung goes there, once.',
      example: 'https://enrol.example.com',
    }),
    caFile: file.optional().meta({
      description:
        'File with the CA certificates (PEM) trusted for it, instead of those of Node and the operating system.',
      example: 'enrolment-ca.pem',
    }),
    identityDir: file
      .default('identity')
      .describe('Folder for the key, the certificate and the endpoint of this device, accessible to its owner only.'),
    renewal: z
      .strictObject({
        beforeDays: z.int().min(1).max(365).meta({
          description:
            'So many days before its end `gw serve` asks the enrolment endpoint for another device certificate.',
          example: 21,
        }),
      })
      .optional()
      .meta({
        description: 'Renewal of the device certificate without a visit; needs `cloud`. Absent: off.',
        example: { beforeDays: 21 },
      }),
  })
  .meta({
    description: 'Enrolment of this device in the cloud. Absent: it cannot be enrolled.',
    example: { url: 'https://enrol.example.com' },
  });

const time = z
  .strictObject({
    urls: z
      .array(httpsUrl)
      .max(6)
      .default([])
      .meta({
        description:
          'Further https:// addresses whose time is read; the letter to the IT and the network check name each of them.',
        example: ['https://time.example.com'],
      }),
    caFile: file.optional().meta({
      description:
        'File with the CA certificates (PEM) trusted for these addresses, instead of those of Node and the operating system.',
      example: 'time-ca.pem',
    }),
  })
  .meta({
    description:
      'Comparison of the clock of the gateway over 443, every six hours: the Date of enrolment.url, cloud.storageUrl and the addresses here, of at least two hosts. The clock is never set. Absent: none is read.',
    example: { urls: ['https://time.example.com'] },
  });

const tablet = z
  .strictObject({
    host: host.optional().meta({
      description: 'Fixed address of the tablet. Absent: found anew in `network.robotSegment` by `serial` or `mac`.',
      example: '127.0.0.1',
    }),
    serial: words(64).optional().meta({
      description:
        'Serial number of the tablet (`ro.serialno`, `adb get-serialno` over USB); no other one is accepted.',
      example: 'TAB0001',
    }),
    mac: macAddress.optional().meta({
      description:
        'MAC address of the tablet in the WLAN of the robot segment; by default Android has one of its own for each network.',
      example: '02:00:00:00:00:03',
    }),
    adbPort: port.default(5555).describe('TCP port of its Android debug bridge.'),
    profileFile: file.default('kiosk.yaml').describe('File with the kiosk profile of the tablet.'),
  })
  .refine(({ host, serial, mac }) => (host ?? serial ?? mac) !== undefined, 'at least one of host, serial and mac')
  .meta({ description: 'The tablet of this robot, for `gw kiosk`.', example: { serial: 'TAB0001' } });

/** Devices of the house network; the building module has its own key, which the forwarder reads. */
export const deviceKinds = ['door', 'lift', 'level-change', 'other'] as const;

const device = z.strictObject({
  name: words(120).describe('Display name.'),
  kind: z.enum(deviceKinds).describe('Kind of device. The building module belongs in operator.building.url only.'),
  host,
  port,
});

const network = z
  .strictObject({
    robotSegment: cidr.optional().meta({
      description: 'Address range of the robot segment: chassis, gateway and tablet alone.',
      example: '192.0.2.0/28',
    }),
    gateway: host.optional().meta({
      description: 'Address of this gateway in the robot segment, by its DHCP reservation.',
      example: '192.0.2.2',
    }),
    gatewayMac: macAddress.optional().meta({
      description: 'MAC address of this gateway in the robot segment, used by its DHCP reservation.',
      example: '02:00:00:00:00:02',
    }),
    devices: z
      .array(device)
      .max(64)
      .default([])
      .meta({
        description:
          'Doors, lifts and other devices in the house network, one agreed address each, and services for them on this gateway (127.0.0.1, by the specification port 3100, door control 8080). gw checks whether each accepts a TCP connection, and does not use it.',
        example: [{ name: 'Lift A', kind: 'lift', host: '198.51.100.10', port: 3100 }],
      }),
    alsoListening: z
      .array(
        z.strictObject({
          protocol: z.enum(['tcp', 'udp']).default('tcp').describe('tcp or udp.'),
          port,
          why: words(200).describe('Program, and why it must listen.'),
        }),
      )
      .max(64)
      .default([])
      .meta({
        description: 'Ports besides those of the platform on which this gateway may listen for other machines.',
        example: [{ protocol: 'udp', port: 68, why: 'DHCP client' }],
      }),
  })
  .prefault({})
  .meta({
    description: 'The network of the site, as agreed with the IT of the customer.',
    example: { robotSegment: '192.0.2.0/28', gateway: '192.0.2.2' },
  });

const people = z.strictObject({
  company: words(120).optional().meta({ description: 'Company.', example: 'Example GmbH' }),
  name: words(120).optional().meta({ description: 'Name of the person.', example: 'A. Example' }),
  salutation: z
    .enum(['Mr', 'Ms'])
    .optional()
    .meta({ description: 'How a letter addresses the person: Herr or Frau in German.', example: 'Mr' }),
  title: words(40).optional().meta({ description: 'Academic title, before the last name.', example: 'Dr.' }),
  lastName: words(120).optional().meta({
    description: 'Last name, for the salutation; without it a letter greets by the whole name.',
    example: 'Weiß',
  }),
  street: words(120).optional().meta({ description: 'Street and number.', example: 'Musterstraße 1' }),
  postcode: words(20).optional().meta({ description: 'Postcode.', example: '10115' }),
  city: words(120).optional().meta({ description: 'City.', example: 'Berlin' }),
  country: words(120).optional().meta({ description: 'Country, for letters abroad.', example: 'Deutschland' }),
  mail: words(200).optional().meta({ description: 'Mail address.', example: 'it@example.com' }),
  phone: words(60).optional().meta({ description: 'Telephone.', example: '+49 30 000000' }),
});

const contacts = z
  .strictObject({
    customer: people.optional().meta({
      description: 'Addressee of the request to the IT of the customer.',
      example: { company: 'Example GmbH' },
    }),
    operator: people.optional().meta({
      description: 'Contact for their questions.',
      example: { company: 'Robots GmbH' },
    }),
  })
  .optional()
  .meta({ description: 'Names for letters and reports.', example: { customer: { company: 'Example GmbH' } } });

const checklists = z
  .strictObject({
    programs: z
      .array(words(4096).refine(isAbsolute, 'an absolute path').meta({ type: 'path' }))
      .max(100)
      .meta({
        description:
          'Programs, each with its absolute path, that checklists may run by `run: command`: with any arguments, as the user of gw. Absent: none.',
        example: ['/usr/bin/systemctl'],
      }),
  })
  .optional()
  .meta({
    description: 'What checklists of your own may do on this gateway.',
    example: { programs: ['/usr/bin/systemctl'] },
  });

export const siteSchema = z.strictObject({
  name: words(120).meta({ description: 'Display name of this site and robot.', example: 'Lobby, robot 7' }),
  title: title.optional().meta({
    description: 'Name of the robot on its pages, for the people on site; without it they show `name`.',
    example: { de: 'Lobby-Roboter', en: 'Lobby robot' },
  }),
  chassis,
  operator: operator.prefault({}).describe('The operator server.'),
  fleet: fleet.optional(),
  enrolment: enrolment.optional(),
  cloud: cloud.optional(),
  time: time.optional(),
  tablet: tablet.optional(),
  network,
  contacts,
  checklists,
  timeZone: timeZone.optional().meta({
    description:
      'Time zone of the site (IANA name), for letters and reports; by default that of the machine that makes them.',
    example: 'Europe/Berlin',
  }),
  maps: z
    .record(name, measuredMap)
    .default({})
    .meta({
      description:
        'Maps in which stations and dock were measured; `gw site map` writes the current one. A place without a map is no goal: on another map its coordinates are another place.',
      example: { lobby: { uid: '5f3a9c', version: 3, id: '1', title: 'Lobby' } },
    }),
  stations: z
    .record(name, station)
    .default({})
    .meta({
      description: 'Stations, named and measured by a person on this site.',
      example: { A: { xM: 1.5, yM: -2, yawDeg: 90 }, B: { xM: 8.25, yM: 0 } },
    }),
  dock: dock.optional().meta({
    description: 'Pose of the charging dock, measured by a person, for docking orders (`gw motion dock`).',
    example: { xM: 0.5, yM: 0, yawDeg: 180 },
  }),
  tours: z
    .record(name, tour)
    .default({})
    .meta({ description: 'Tours: stations in order.', example: { lunch: { stations: ['A', 'B'] } } }),
  motion: z
    .strictObject({
      requireVerified: z
        .boolean()
        .default(false)
        .describe(
          'true: every fact that an order relies on needs a verification on this chassis with its current software, including facts measured on another device.',
        ),
      moveLimitS: z
        .int()
        .min(10)
        .max(7_200)
        .default(600)
        .describe('Time limit of a single move in seconds; then it is cancelled. A ride in a lift may need more.'),
      unownedMove: z
        .enum(['cancel', 'leave'])
        .default('cancel')
        .describe(
          'A move that gw did not order and that is in progress when gw starts or the chassis reconnects: cancel it, or leave it. Until it ends all other orders are refused.',
        ),
    })
    .prefault({})
    .meta({
      description: 'Requirements for orders that move the robot, beyond the rules of the gate.',
      example: { requireVerified: true, moveLimitS: 1200 },
    }),
  delivery: delivery.optional(),
  disk,
  evidenceFile: file
    .default('evidence.jsonl')
    .describe('File with the facts verified on this device, one record per line.'),
  stateDir: file.default('state').describe('Folder for persistent state, such as the stop latch.'),
});

/** The content of a site file with its defaults. */
export type SiteFile = z.infer<typeof siteSchema>;

/** A loaded site: the file's content with every path made absolute. */
export interface Site extends SiteFile {
  /** Absolute path of the site file. */
  readonly path: string;
  /** Absolute folder of the site file. */
  readonly dir: string;
}
