import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../document/index.ts';
import { isRecord } from '../json/index.ts';
import { sha256 } from '../lifecycle/index.ts';

/**
 * The kiosk profile: one YAML file (`gw/kiosk/1`) that says how a tablet must be. What it leaves out is neither
 * looked at nor changed. One schema gives type, checks and the table in docs/kiosk.md. The platform does not
 * describe the tablet's inside; every key is a decision of ours.
 */

const words = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^\P{Cc}*$/u, 'text without control characters');

/** As Android writes it: two or more parts of letters, digits and _, each beginning with a letter. */
const packageName = z
  .string()
  .max(223)
  .regex(/^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$/, 'a package name, such as com.example.kiosk');
/** A class, as a whole name or, beginning with a dot, inside the package. */
const className = z
  .string()
  .max(300)
  .regex(
    /^(\.?[A-Za-z][A-Za-z0-9_$]*)(\.[A-Za-z][A-Za-z0-9_$]*)*$/,
    'a class name, such as .MainActivity or com.example.kiosk.MainActivity',
  );

const tablet = z
  .strictObject({
    model: words(120).optional().meta({
      description: 'What the tablet calls its model (ro.product.model). Another one is the wrong tablet.',
      example: 'TAB-10',
    }),
    serial: words(120).optional().meta({
      description: 'Serial number of the one tablet (ro.serialno), where the profile is for one only.',
      example: 'TAB0001',
    }),
    minSdk: z
      .int()
      .min(26)
      .max(100)
      .default(26)
      .describe('Oldest Android API level that will do; 26 is Android 8.0, the oldest that gw speaks to.'),
  })
  .prefault({})
  .describe('Which tablet this profile is for.');

const app = z
  .strictObject({
    name: packageName.describe('Package name of the kiosk shell.'),
    versionCode: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .describe('Version code that must be installed, as `pm list packages --show-versioncode` gives it.'),
    file: words(4096)
      .meta({ description: 'The package file (APK), relative to the folder of the profile.', type: 'path' })
      .optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'SHA-256 as 64 small hex digits')
      .optional()
      .describe('SHA-256 of that file. Another file is not installed.'),
    activity: className.describe('Activity that shows the page; beginning with a dot it is inside the package.'),
  })
  .describe('The kiosk shell.');

const startPage = z
  .string()
  .max(2048)
  .refine(
    (text) => /^https?:\/\/[^\s/]/i.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text),
    'an http:// or https:// address',
  )
  .describe('Page that the kiosk shell is started with: the operator surface of the gateway.');

const screen = z
  .strictObject({
    brightness: z.int().min(0).max(255).optional().describe('Brightness, 0 to 255; switches the automatic off.'),
    offAfterS: z
      .int()
      .min(15)
      .max(86_400)
      .optional()
      .describe('Seconds without a touch until the screen goes dark, on battery.'),
    rotationDeg: z
      .union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)])
      .optional()
      .describe('Fixed rotation in degrees: 0, 90, 180 or 270; switches the automatic off.'),
    densityDpi: z.int().min(72).max(1000).optional().describe('Density in dots per inch.'),
  })
  .prefault({})
  .describe('The screen.');

const sound = z
  .strictObject({
    mediaPercent: z.int().min(0).max(100).optional().describe('Loudness of media, in percent of the tablet.'),
    touchSounds: z.boolean().optional().describe('Whether a touch makes a sound.'),
  })
  .prefault({})
  .describe('Sound.');

const network = z
  .strictObject({
    ssid: words(32).optional().describe('Name of the WLAN that the tablet must be in.'),
    segment: words(64)
      .refine(isIpv4Range, 'an IPv4 address range, such as 192.0.2.0/28')
      .optional()
      .describe('Address range that one address of the tablet must be in; network.robotSegment of the site if absent.'),
  })
  .prefault({})
  .describe('The network that the tablet is expected in. Never changed, only compared.');

export const kioskProfileSchema = z.strictObject({
  schema: z.literal('gw/kiosk/1').describe('gw/kiosk/1, the shape of this file.'),
  name: words(120).describe('What people call this profile.'),
  tablet,
  app,
  startPage,
  deviceOwner: className
    .optional()
    .describe('Receiver of the kiosk shell that becomes device owner; beginning with a dot it is inside the package.'),
  lockTask: z
    .boolean()
    .default(false)
    .describe('Whether the tablet must be in lock task mode, which the shell enters itself as device owner.'),
  stayAwake: z.boolean().optional().describe('Whether the screen stays on while the tablet is charged.'),
  screen,
  sound,
  hidePackages: z
    .array(packageName)
    .max(200)
    .default([])
    .describe('Packages to disable for the user of the tablet, such as shops, mail and games.'),
  network,
});

/** The profile as written, defaults filled in. */
type KioskProfileFile = z.infer<typeof kioskProfileSchema>;

/** A loaded profile: `app.file` is absolute. */
export interface KioskProfile extends KioskProfileFile {
  /** Absolute path of the profile. */
  readonly path: string;
}

/** Reads and checks a profile. Opens nothing that it names. Throws KIOSK_PROFILE_INVALID with every problem. */
export async function loadKioskProfile(path: string): Promise<KioskProfile> {
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
        report(['lockTask'], { expected: 'deviceOwner beside it: only a device owner can enter lock task mode' });
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
 * SHA-256 over what a profile demands of a tablet, with the address range that the site adds. Comments, the order of
 * keys and the place of the package file do not count.
 */
export function profileHash(profile: KioskProfile, robotSegment: string | undefined): string {
  const { path: _path, app, ...rest } = profile;
  const { file: _file, ...demanded } = app;
  return sha256(JSON.stringify(sorted({ ...rest, app: demanded, robotSegment: robotSegment ?? null })));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
