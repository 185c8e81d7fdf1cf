import type { Problem } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import type { Endpoint } from '../../net/index.ts';
import {
  askedKeys,
  commentedSiteFile,
  type NewSite,
  parseSite,
  refuseExisting,
  type SeenChassis,
  writeSiteFile,
} from '../../site/index.ts';
import type { ChassisReading } from './read-chassis.ts';
import type { SiteInit } from './site.result.ts';

type Asked = keyof typeof askedKeys;

/** One question for a person. */
export interface Question {
  /** The description of the key in the schema. */
  readonly text: string;
  /** Used when the answer is empty; undefined when an answer is required. */
  readonly fallback: string | undefined;
  /** The expected form; undefined when the answer is valid. */
  check(answer: string): string | undefined;
}

/** Asks until the answer is valid. Rejects when the person aborts. */
type Ask = (question: Question) => Promise<string>;

export interface SiteInitOptions {
  readonly path: string;
  /** Replace an existing file. */
  readonly force: boolean;
  /** Given values: used directly without `ask`, offered as defaults with it. */
  readonly given: { readonly [key in Asked]?: string | undefined };
  /** Absent: not interactive, so all required values must be given. */
  readonly ask?: Ask | undefined;
  /**
   * Reads the chassis at the address that was given or answered. Called with questions, and where the serial number is not
   * given.
   */
  readonly read?: ((endpoint: Endpoint) => Promise<ChassisReading>) | undefined;
  /** Receives what the chassis said of itself, or why nothing is known of it. */
  readonly onRead?: ((reading: ChassisReading, endpoint: Endpoint) => void) | undefined;
}

/** The flag of each question. */
const flags: Readonly<Record<Asked, string>> = {
  name: '--name',
  host: '--chassis-host',
  port: '--chassis-port',
  serial: '--serial',
  mac: '--mac',
  operatorPort: '--operator-port',
  tabletSerial: '--tablet-serial',
  tabletMac: '--tablet-mac',
};

/** Questions that may stay without an answer. */
const optional: ReadonlySet<Asked> = new Set(['mac', 'tabletSerial', 'tabletMac']);

/**
 * Writes the commented site file of one robot atomically. Throws FILE_EXISTS without `force`, USAGE when a required
 * value is missing or invalid, FILE_UNWRITABLE, INTERRUPTED when the person aborts. Without questions and without a serial
 * number it throws why the chassis cannot be read.
 */
export async function initSite(options: SiteInitOptions): Promise<SiteInit> {
  const { path, force, ask } = options;
  if (!force) await refuseExisting(path);
  const { answers, seen } = ask ? await askAll(options, ask) : await takeGiven(options);
  const site = newSite(answers);
  await writeSiteFile(path, commentedSiteFile(site, seen), { force });
  const { host, serial, mac } = site.chassis;
  return {
    ...{ path, name: site.name, host, serial, mac: mac ?? null, operatorPort: Number(site.operator.port) },
    read: seen && { ...seen, maps: [...seen.maps], points: seen.points.length },
  };
}

type Answers = Readonly<Record<Asked, string>>;

interface Filled {
  readonly answers: Answers;
  readonly seen: SeenChassis | null;
}

async function askAll({ given, read, onRead }: SiteInitOptions, ask: Ask): Promise<Filled> {
  // Open questions have their default or example, so that each answer is validated together with the earlier ones.
  const answers = mapKeys((key) => defaultOf(key) ?? String(askedKeys[key].example));
  let seen: SeenChassis | null = null;
  for (const key of Object.keys(answers) as Asked[]) {
    if (key === 'port' && given.port === undefined) continue;
    const { description } = askedKeys[key];
    const reported = key === 'serial' ? seen?.serial : undefined;
    answers[key] = await ask({
      text: optional.has(key) ? `${description} Empty if unknown.` : description,
      fallback: given[key] ?? reported ?? defaultOf(key),
      check: (answer) => {
        const problems = problemsOf({ ...answers, [key]: answer });
        return problems.length === 0 ? undefined : problems.map(({ expected }) => expected).join('; ');
      },
    });
    // The address is known, and the next question is the serial number.
    if (key === (given.port === undefined ? 'host' : 'port') && read !== undefined) {
      const endpoint = endpointOf(answers);
      const reading = await read(endpoint);
      onRead?.(reading, endpoint);
      seen = reading.seen;
    }
  }
  return { answers, seen };
}

async function takeGiven({ given, read, onRead }: SiteInitOptions): Promise<Filled> {
  const answers = mapKeys((key) => given[key] ?? defaultOf(key) ?? '');
  const missing = () => (Object.keys(answers) as Asked[]).filter((key) => answers[key] === '' && !optional.has(key));
  let seen: SeenChassis | null = null;
  const isSerialOpen = missing().join() === 'serial' && problemsOf({ ...answers, serial: 'SN' }).length === 0;
  if (isSerialOpen && read !== undefined) {
    const endpoint = endpointOf(answers);
    const reading = await read(endpoint);
    onRead?.(reading, endpoint);
    if (reading.error !== null) {
      const { code, message, tried, details } = reading.error;
      throw new GwError(code, message, {
        ...{ tried, details, cause: reading.error },
        remedy:
          'Check power, network segment and the DHCP reservation, or give the serial number with --serial SERIAL.',
      });
    }
    seen = reading.seen;
    answers.serial = seen.serial;
  }
  if (missing().length > 0) {
    // The chassis itself has its serial number.
    const needed = missing().filter((key) => key !== 'serial' || read === undefined);
    throw new GwError('USAGE', `Required flags are missing: ${needed.map((key) => flags[key]).join(', ')}.`, {
      remedy: `Add them: \`gw site init --yes ${needed.map((key) => `${flags[key]} ${key.toUpperCase()}`).join(' ')}\`; without --yes they are asked for.`,
    });
  }
  const problems = problemsOf(answers);
  if (problems.length > 0) {
    const lines = problems.map(({ path, found, expected }) => `${flagOf(path)}: found ${found}, expected ${expected}`);
    throw new GwError('USAGE', lines.join('\n'));
  }
  return { answers, seen };
}

function endpointOf({ host, port }: Answers): Endpoint {
  return { host, port: Number(port) };
}

function mapKeys(answerTo: (key: Asked) => string): Record<Asked, string> {
  const keys = Object.keys(askedKeys) as Asked[];
  return Object.fromEntries(keys.map((key) => [key, answerTo(key)])) as Record<Asked, string>;
}

function defaultOf(key: Asked): string | undefined {
  if (optional.has(key)) return '';
  const { fallback } = askedKeys[key];
  return fallback === undefined ? undefined : String(fallback);
}

function flagOf(path: string): string {
  const key = (Object.keys(askedKeys) as Asked[]).find((asked) => askedKeys[asked].path === path);
  return key === undefined ? path : flags[key];
}

function newSite({ name, host, port, serial, mac, operatorPort, tabletSerial, tabletMac }: Answers): NewSite {
  const portOf = (text: string) => (/^\d{1,10}$/.test(text) ? Number(text) : text);
  const chassisPort = portOf(port);
  return {
    name,
    chassis: {
      host,
      ...(chassisPort !== askedKeys.port.fallback && { port: chassisPort }),
      serial,
      ...(mac !== '' && { mac }),
    },
    operator: { port: portOf(operatorPort) },
    ...(tabletSerial + tabletMac !== '' && {
      tablet: { ...(tabletSerial !== '' && { serial: tabletSerial }), ...(tabletMac !== '' && { mac: tabletMac }) },
    }),
  };
}

/** Validates the file that would be written. */
function problemsOf(answers: Answers): readonly Problem[] {
  try {
    parseSite(commentedSiteFile(newSite(answers)), 'site.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof GwError) || !Array.isArray(error.details?.problems)) throw error;
    return error.details.problems as readonly Problem[];
  }
}
