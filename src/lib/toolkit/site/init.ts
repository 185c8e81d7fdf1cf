import type { Problem } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import {
  askedKeys,
  commentedSiteFile,
  type NewSite,
  parseSite,
  refuseExisting,
  writeSiteFile,
} from '../../site/index.ts';
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
}

/** The flag of each question. */
const flags: Readonly<Record<Asked, string>> = {
  name: '--name',
  host: '--chassis-host',
  serial: '--serial',
  mac: '--mac',
  operatorPort: '--operator-port',
};

/**
 * Writes the commented site file of one robot atomically. Throws FILE_EXISTS without `force`, USAGE when a required
 * value is missing or invalid, FILE_UNWRITABLE, INTERRUPTED when the person aborts.
 */
export async function initSite(options: SiteInitOptions): Promise<SiteInit> {
  const { path, force, ask } = options;
  if (!force) await refuseExisting(path);
  const answers = ask ? await askAll(options.given, ask) : takeGiven(options.given);
  const site = newSite(answers);
  await writeSiteFile(path, commentedSiteFile(site), { force });
  const { host, serial, mac } = site.chassis;
  return { path, name: site.name, host, serial, mac: mac ?? null, operatorPort: Number(site.operator.port) };
}

type Answers = Readonly<Record<Asked, string>>;

async function askAll(given: SiteInitOptions['given'], ask: Ask): Promise<Answers> {
  // Open questions have their default or example, so that each answer is validated together with the earlier ones.
  const answers = mapKeys((key) => defaultOf(key) ?? String(askedKeys[key].example));
  for (const key of Object.keys(answers) as Asked[]) {
    const { description } = askedKeys[key];
    answers[key] = await ask({
      text: key === 'mac' ? `${description} Empty if unknown.` : description,
      fallback: given[key] ?? defaultOf(key),
      check: (answer) => {
        const problems = problemsOf({ ...answers, [key]: answer });
        return problems.length === 0 ? undefined : problems.map(({ expected }) => expected).join('; ');
      },
    });
  }
  return answers;
}

function takeGiven(given: SiteInitOptions['given']): Answers {
  const answers = mapKeys((key) => given[key] ?? defaultOf(key) ?? '');
  const missing = (Object.keys(answers) as Asked[]).filter((key) => answers[key] === '' && key !== 'mac');
  if (missing.length > 0) {
    throw new GwError('USAGE', `Required flags are missing: ${missing.map((key) => flags[key]).join(', ')}.`);
  }
  const problems = problemsOf(answers);
  if (problems.length > 0) {
    const lines = problems.map(({ path, found, expected }) => `${flagOf(path)}: found ${found}, expected ${expected}`);
    throw new GwError('USAGE', lines.join('\n'));
  }
  return answers;
}

function mapKeys(answerTo: (key: Asked) => string): Record<Asked, string> {
  const keys = Object.keys(askedKeys) as Asked[];
  return Object.fromEntries(keys.map((key) => [key, answerTo(key)])) as Record<Asked, string>;
}

function defaultOf(key: Asked): string | undefined {
  if (key === 'mac') return '';
  const { fallback } = askedKeys[key];
  return fallback === undefined ? undefined : String(fallback);
}

function flagOf(path: string): string {
  const key = (Object.keys(askedKeys) as Asked[]).find((asked) => askedKeys[asked].path === path);
  return key === undefined ? path : flags[key];
}

function newSite({ name, host, serial, mac, operatorPort }: Answers): NewSite {
  const port = /^\d{1,10}$/.test(operatorPort) ? Number(operatorPort) : operatorPort;
  return { name, chassis: { host, serial, ...(mac !== '' && { mac }) }, operator: { port } };
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
