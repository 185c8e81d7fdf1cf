import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { sha256 } from '../lifecycle/index.ts';

/**
 * The kiosk profile: one YAML file (`gw/kiosk/1`) with the required state of a tablet. Settings that it leaves out are
 * neither read nor changed. The platform does not describe the tablet's software; every key is a project decision.
 */

const lineOfText = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^\P{Cc}*$/u, 'text without control characters');

/** Android package name: two or more parts of letters, digits and _, each beginning with a letter. */
const packageName = z
  .string()
  .max(223)
  .regex(/^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/, 'a package name, such as com.example.kiosk');
/** A full class name, or one beginning with a dot, relative to the package. */
const className = z
  .string()
  .max(300)
  .regex(
    /^(\.?[A-Za-z][A-Za-z0-9_$]*)(\.[A-Za-z][A-Za-z0-9_$]*)*$/,
    'a class name, such as .MainActivity or com.example.kiosk.MainActivity',
  );

const tablet = z
  .strictObject({
    model: lineOfText(120).optional().meta({
      description: 'Model reported by the tablet (ro.product.model). Any other model is rejected.',
      example: 'TAB-10',
    }),
    serial: lineOfText(120).optional().meta({
      description: 'Serial number of the tablet (ro.serialno), for a profile of a single tablet.',
      example: 'TAB0001',
    }),
    minSdk: z
      .int()
      .min(26)
      .max(100)
      .default(26)
      .describe('Minimum Android API level; 26 is Android 8.0, the oldest that gw supports.'),
  })
  .prefault({})
  .describe('The tablet that this profile is for.');

const app = z
  .strictObject({
    name: packageName.describe('Package name of the kiosk shell.'),
    versionCode: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .describe('Version code that must be installed, as `pm list packages --show-versioncode` prints it.'),
    file: lineOfText(4096)
      .meta({ description: 'The package file (APK), relative to the folder of the profile.', type: 'path' })
      .optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'SHA-256 as 64 lowercase hex digits')
      .optional()
      .describe('SHA-256 of that file. A file with another one is not installed.'),
    activity: className.describe('Activity that shows the page; a leading dot means relative to the package.'),
  })
  .describe('The kiosk shell.');

const startPage = z
  .string()
  .max(2048)
  .refine(
    (text) => /^https?:\/\/[^\s/]/i.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text),
    'an http:// or https:// address',
  )
  .describe('Page that the kiosk shell opens: the operator surface of the gateway.');

const screen = z
  .strictObject({
    brightness: z.int().min(0).max(255).optional().describe('Brightness, 0 to 255; disables automatic brightness.'),
    offAfterS: z.int().min(15).max(86_400).optional().describe('Screen timeout in seconds, on battery.'),
    rotationDeg: z
      .union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)])
      .optional()
      .describe('Fixed rotation in degrees: 0, 90, 180 or 270; disables automatic rotation.'),
    densityDpi: z.int().min(72).max(1000).optional().describe('Screen density in dots per inch.'),
  })
  .prefault({})
  .describe('The screen.');

const sound = z
  .strictObject({
    mediaPercent: z.int().min(0).max(100).optional().describe('Media volume in percent of the maximum.'),
    touchSounds: z.boolean().optional().describe('Whether touches make a sound.'),
  })
  .prefault({})
  .describe('Sound.');

const network = z
  .strictObject({
    ssid: lineOfText(32).optional().describe('SSID of the WLAN that the tablet must use.'),
    segment: lineOfText(64)
      .refine(isIpv4Range, 'an IPv4 address range, such as 192.0.2.0/28')
      .optional()
      .describe(
        'Address range that must contain an address of the tablet; default: network.robotSegment of the site file.',
      ),
  })
  .prefault({})
  .describe('The expected network of the tablet. Compared, never changed.');

export const kioskProfileSchema = z.strictObject({
  schema: z.literal('gw/kiosk/1').describe('gw/kiosk/1, the format of this file.'),
  name: lineOfText(120).describe('Display name of this profile.'),
  tablet,
  app,
  startPage,
  deviceOwner: className
    .optional()
    .describe('Receiver of the kiosk shell that becomes device owner; a leading dot means relative to the package.'),
  lockTask: z
    .boolean()
    .default(false)
    .describe('Whether the tablet must be in lock task mode, which the shell enters as device owner.'),
  stayAwake: z.boolean().optional().describe('Whether the screen stays on while the tablet is charged.'),
  screen,
  sound,
  hidePackages: z
    .array(packageName)
    .max(200)
    .default([])
    .describe('Packages to disable for the user of the tablet, such as app stores, mail and games.'),
  network,
});

/** The contents of the file, with defaults. */
type KioskProfileFile = z.infer<typeof kioskProfileSchema>;

/** A loaded profile: `app.file` is absolute. */
export interface KioskProfile extends KioskProfileFile {
  /** Absolute path of the profile. */
  readonly path: string;
}

/**
 * Reads and validates a profile; files that it names are not opened. `serial`: the serial number by the site file, which
 * the tablet must have too. Throws KIOSK_PROFILE_INVALID with all errors.
 */
export async function loadKioskProfile(path: string, serial?: string): Promise<KioskProfile> {
  const file = await readDocument({
    path,
    schema: kioskProfileSchema,
    maxBytes: 64 * 1024,
    error: 'KIOSK_PROFILE_INVALID',
    check: (value, report) => {
      if (!isRecord(value)) return;
      const app = isRecord(value.app) ? value.app : {};
      if ((app.file === undefined) !== (app.sha256 === undefined)) {
        const missing = app.file === undefined ? 'file' : 'sha256';
        report(['app', missing], { expected: 'app.file and app.sha256 together, or neither' });
      }
      if (value.lockTask === true && value.deviceOwner === undefined) {
        report(['lockTask'], { expected: 'deviceOwner as well: only a device owner can enter lock task mode' });
      }
      const named = isRecord(value.tablet) ? value.tablet.serial : undefined;
      if (serial !== undefined && named !== undefined && named !== serial) {
        report(['tablet', 'serial'], { expected: `${serial}, as tablet.serial of the site file, or no serial number` });
      }
      const hidden = Array.isArray(value.hidePackages) ? value.hidePackages : [];
      for (const [index, name] of hidden.entries()) {
        if (name === app.name) report(['hidePackages', index], { expected: 'a package other than the kiosk shell' });
        else if (hidden.indexOf(name) < index) report(['hidePackages', index], { expected: 'each package once' });
      }
    },
  });
  const absolute = resolve(path);
  return {
    ...file,
    tablet: { ...file.tablet, ...(serial !== undefined && { serial }) },
    path: absolute,
    app: {
      ...file.app,
      ...(file.app.file !== undefined && { file: resolve(dirname(absolute), file.app.file) }),
    },
  };
}

function isIpv4Range(text: string): boolean {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  return found?.slice(1, 5).every((part) => Number(part) <= 255) === true && Number(found[5]) <= 32;
}

/**
 * SHA-256 over the requirements of a profile, including the address range of the site file. Comments, the order of keys
 * and the path of the package file do not count.
 */
export function profileHash(profile: KioskProfile, robotSegment: string | undefined): string {
  const { path: _path, app, ...rest } = profile;
  const { file: _file, ...required } = app;
  return sha256(JSON.stringify(sorted({ ...rest, app: required, robotSegment: robotSegment ?? null })));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
