import { join } from 'node:path';
import { z } from 'zod';
import { GwError, systemReason } from '../../error/index.ts';
import { assertOwnFolder, readBounded, replaceFile } from '../../lifecycle/index.ts';
import { formatEndpoint } from '../../net/index.ts';
import { observationSchema } from './observation.ts';

const shortText = z.string().max(300);

/** Identity and versions of a tablet. */
export const tabletFactsSchema = z
  .strictObject({
    model: z.string(),
    manufacturer: z.string(),
    serial: z.string(),
    android: z.string().describe('Version for display.'),
    sdk: z.int().describe('API level.'),
    bootId: z.string().nullable().describe('Boot id of the tablet; null: not reported.'),
    androidId: z.string().nullable().describe('Renewed by a factory reset; null: not reported.'),
  })
  .describe('Identity and versions reported by the tablet.');
export type TabletFacts = Readonly<z.infer<typeof tabletFactsSchema>>;

/** Events that may have changed the tablet since a reading. */
export const doubtIds = ['restarted-by-gw', 'restarted', 'opened', 'reset', 'other-device'] as const;
export type Doubt = (typeof doubtIds)[number];
export const readers = ['setup', 'plan', 'status', 'lock'] as const;

export const recordedStepSchema = z.strictObject({
  id: shortText,
  title: z.string(),
  state: z.enum(['ok', 'differs', 'not-checked', 'failed', 'not-reached']),
  expected: z.string(),
  found: z.string().nullable(),
});

const readingSchema = z.strictObject({
  by: z.enum(readers),
  profile: z.strictObject({
    name: z.string(),
    sha256: shortText
      .nullable()
      .describe('SHA-256 over the requirements of the profile; null: written by an older version of gw.'),
  }),
  verdict: z
    .enum(['as-profile', 'differs', 'not-checked', 'not-done'])
    .describe('not-checked: no difference, but not everything was reported. not-done: setup did not complete.'),
  steps: z.array(recordedStepSchema).max(200),
  observed: observationSchema,
  doubts: z.array(z.strictObject({ id: z.enum(doubtIds), observed: observationSchema })).max(20),
});
export type Reading = z.infer<typeof readingSchema>;

/**
 * The stored state of the tablet of a site: the last observation of ADB over TCP and the newest reading of its settings.
 * Later reports show it with its age and device.
 */
export const tabletRecordSchema = z.strictObject({
  schema: z.literal('gw/tablet/2'),
  address: z.strictObject({ host: z.string(), port: z.int() }),
  tablet: tabletFactsSchema
    .extend({ bootId: shortText.nullable(), androidId: shortText.nullable() })
    .nullable()
    .describe('null: never connected.'),
  bridge: z
    .strictObject({
      state: z.enum(['open', 'closed', 'not-verified']),
      why: z.string(),
      isOpenUnresolved: z
        .boolean()
        .describe('Seen open, and since then neither ordered to close by gw nor refused by the same device.'),
      isWirelessOn: z
        .boolean()
        .describe('Wireless debugging, which has a port of its own, stayed enabled at the last lock.'),
      observed: observationSchema,
      afterRestart: z
        .strictObject({ verdict: z.enum(['closed', 'open', 'not-checked']), observed: observationSchema.nullable() })
        .describe('Whether the port stayed closed after a restart of the tablet.'),
    })
    .describe('ADB over TCP of the tablet.'),
  reading: readingSchema.nullable().describe('The newest reading by any command; null: none.'),
});
export type TabletRecord = z.infer<typeof tabletRecordSchema>;

/** Red line of every report until the tablet is verified closed. */
export interface TabletRedLine {
  readonly id: 'tablet-open';
  readonly title: string;
  readonly detail: string;
  readonly remedy: string;
}

const recordPath = (stateDir: string) => join(stateDir, 'tablet.json');
const MAX_RECORD_BYTES = 1024 * 1024;

/** Reads the record of a site; null when there is none. Throws FILE_UNREADABLE. */
export async function readTabletRecord(stateDir: string): Promise<TabletRecord | null> {
  const path = recordPath(stateDir);
  const read = await readBounded(path, MAX_RECORD_BYTES).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return null;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${systemReason(cause)}).`, { cause });
  });
  if (read === null) return null;
  const text = read.kind === 'bytes' ? Buffer.from(read.bytes).toString('utf8') : '';
  const record = parseTabletRecord(text);
  if (record !== null) return record;
  const newerSchema = /^\{\s{0,20}"schema":\s{0,20}"gw\/tablet\/(\d{1,4})"/.exec(text)?.[1];
  if (newerSchema !== undefined && Number(newerSchema) > 2) {
    throw new GwError('FILE_UNREADABLE', `${path} was written by a newer version of gw (gw/tablet/${newerSchema}).`, {
      remedy: 'Use that version of gw here, or remove the file and run `gw kiosk lock`.',
    });
  }
  throw new GwError('FILE_UNREADABLE', `${path} is corrupt: whether the tablet was closed is unknown.`, {
    remedy: 'Remove the file, then run `gw kiosk lock`: it verifies that the tablet is closed and writes a new file.',
  });
}

/** Parses a record; null when the text is not one. */
export function parseTabletRecord(text: string): TabletRecord | null {
  try {
    return tabletRecordSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Throws FILE_UNWRITABLE. */
export async function writeTabletRecord(stateDir: string, record: TabletRecord): Promise<void> {
  await assertOwnFolder(stateDir);
  await replaceFile(recordPath(stateDir), `${JSON.stringify(record, null, 2)}\n`);
}

/** The red line of a site; an unreadable record is a red line too. */
export async function tabletRedLine(stateDir: string): Promise<TabletRedLine | null> {
  try {
    const record = await readTabletRecord(stateDir);
    return record === null ? null : redLineOf(record);
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    return redLine(error.message, error.remedy);
  }
}

function redLine(detail: string, remedy: string): TabletRedLine {
  return { id: 'tablet-open', title: 'ADB port of the tablet', detail, remedy };
}

/** A lock before the setup would leave only USB to configure the tablet. */
function closingRemedy(reading: TabletRecord['reading']): string {
  if (reading?.verdict === 'as-profile' || reading?.verdict === 'not-checked') return 'Run `gw kiosk lock`.';
  const why = reading === null ? 'Its settings were not read' : 'Its settings differ from the profile';
  return `${why}: run \`gw kiosk setup\` first, which closes the port at its end. \`gw kiosk lock\` closes it at once; then only USB opens it again.`;
}

/**
 * The red line of every report: a tablet whose ADB port is open or not verified as closed; null when there is none.
 *
 * @source spec "Cloud and other network paths": 5555 only while the kiosk shell is installed, switched off afterwards
 */
export function redLineOf({ address, bridge, reading }: TabletRecord): TabletRedLine | null {
  const where = formatEndpoint(address);
  const { state, why, observed, afterRestart, isWirelessOn } = bridge;
  const seen = `${observed.at}${observed.serial === null || observed.serial === '' ? '' : `, serial ${observed.serial}`}`;
  if (state === 'open') {
    const detail = `ADB over TCP is open at ${where} (seen ${seen}): any client that reaches it can control the tablet.`;
    return redLine(detail, closingRemedy(reading));
  }
  if (state === 'not-verified') {
    return redLine(
      `ADB over TCP at ${where} is not verified as closed (${seen}: ${why}).`,
      'Wake the tablet, connect it to its WLAN, and run `gw kiosk lock` on the gateway, or over USB with --usb.',
    );
  }
  if (isWirelessOn) {
    return redLine(
      `Wireless debugging, another ADB port, is still enabled on the tablet of ${where} (${seen}).`,
      'Switch wireless debugging off in its developer options, then verify it over USB: `gw kiosk lock --usb`.',
    );
  }
  if (afterRestart.verdict !== 'open') return null;
  return redLine(
    `ADB over TCP at ${where} opens again after every restart of the tablet (${afterRestart.observed?.at ?? observed.at}).`,
    'Switch it off in the developer options of the tablet, then verify it: `gw kiosk lock --after-restart`.',
  );
}
