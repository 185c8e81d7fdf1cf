import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nearest, type Problem } from '../../document/index.ts';
import { identityFolderProblem, loadIdentity } from '../../enrolment/index.ts';
import { GwError } from '../../error/index.ts';
import { facts, findFact, loadEvidenceFile } from '../../evidence/index.ts';
import { keyName, readKeyRing } from '../../fleet/index.ts';
import { folderProblem } from '../../lifecycle/index.ts';
import { factsOfOrder } from '../../motion/index.ts';
import { loadSite, readSecret, type Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import { readKnownIdentity } from '../network/check/identity.ts';
import { conclude } from '../verdict.ts';
import { purposes } from './needs.ts';
import type { SiteCheck } from './site.result.ts';

type Finding = SiteCheck['findings'][number];
type Check = (site: Site) => Promise<Pick<Finding, 'verdict' | 'detail'> & { readonly remedy?: string }>;

/** Checks of the files and folders that the site file names. */
const checks: readonly { readonly id: string; readonly title: string; readonly check: Check }[] = [
  {
    id: 'operator-password',
    title: 'device password',
    check: (site) =>
      checkSecret(site.operator.passwordFile, 'operator.passwordFile', 'none is configured, so sign-in is unavailable'),
  },
  {
    id: 'chassis-secret',
    title: 'secret of the chassis',
    check: (site) => checkSecret(site.chassis.secretFile, 'chassis.secretFile', 'none is configured, so none is sent'),
  },
  { id: 'heartbeat-key', title: 'key of the heartbeat', check: checkHeartbeatKey },
  { id: 'identity', title: 'identity in the cloud', check: checkIdentity },
  { id: 'evidence-file', title: 'evidence file', check: checkEvidence },
  { id: 'require-verified', title: 'verifications that orders need', check: checkRequired },
  { id: 'orders', title: 'limits of orders', check: checkOrders },
  { id: 'state-folder', title: 'state folder', check: checkStateFolder },
  {
    id: 'media-folder',
    title: 'media folder',
    check: (site) => checkFolder(site.operator.mediaDir, 'operator.mediaDir'),
  },
];

/**
 * Checks a site file and the files and folders that it names, without any network access. Problems are the result, not
 * an error. Throws SITE_FILE_NOT_FOUND.
 */
export async function checkSite(path: string): Promise<SiteCheck> {
  const site = await loadSite(path).catch(asProblems);
  if (Array.isArray(site)) {
    const problems = site.map(({ path: key, file: _file, ...problem }) => ({ key, ...problem }));
    const findings = checks.map(({ id, title }) => notChecked(id, title));
    return { path, valid: false, verdict: 'wrong', errors: problems.length, problems, findings, completeFor: [] };
  }
  const findings: Finding[] = [];
  for (const { id, title, check } of checks) findings.push({ id, title, remedy: null, ...(await check(site)) });
  const errors = findings.filter(({ verdict }) => verdict === 'wrong').length;
  const verdict = conclude(findings);
  return { path, valid: errors === 0, verdict, errors, problems: [], findings, completeFor: await completeFor(site) };
}

/** Per purpose, what is missing. */
async function completeFor(site: Site): Promise<SiteCheck['completeFor']> {
  const { networkRequestFacts } = await import('../../report/index.ts');
  const identity = await readKnownIdentity(site);
  const { open } = networkRequestFacts(site, identity.kind === 'enrolled' ? identity.endpoint : null);
  const letter = open
    .filter(({ id }) => !ONLY_IF_USED.has(id))
    .map(({ key, what }) => ({
      key,
      what,
      remedy: hasValue(site, key)
        ? `The letter cannot use the value of ${key} (this machine, or a name instead of an address): fill it in by hand.`
        : `Enter ${key}, or fill it in by hand.`,
    }));
  return [
    ...purposes.map(({ id, title, needs }) => ({ id, title, missing: needs.flatMap((need) => [...need(site)]) })),
    { id: 'network-request', title: 'network request', missing: letter },
  ];
}

/** Whether the site file has a value there: the letter leaves out one that names this machine. */
function hasValue(site: Site, key: string): boolean {
  let value: unknown = site;
  for (const name of key.split('.')) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

/** Points of the letter that a site without doors, lifts and other segments does not have. */
const ONLY_IF_USED: ReadonlySet<string> = new Set(['devices', 'heartbeat-segments']);

function asProblems(error: unknown): Problem[] {
  if (!(error instanceof GwError)) throw error;
  if (error.code === 'SITE_FILE_NOT_FOUND') {
    throw new GwError(error.code, error.message, {
      remedy: 'Name it: `gw site check FILE`. Create one: `gw site init FILE`.',
    });
  }
  if (error.code !== 'SITE_FILE_INVALID') throw error;
  const problems = error.details?.problems;
  if (Array.isArray(problems)) return problems as Problem[];
  // The file could not be opened: one problem of the whole file.
  return [
    {
      file: '',
      line: null,
      column: null,
      path: '',
      found: error.message,
      expected: 'a readable file',
      suggestion: null,
    },
  ];
}

function notChecked(id: string, title: string): Finding {
  return { id, title, verdict: 'not-checked', detail: 'the site file is invalid', remedy: null };
}

async function checkSecret(path: string | undefined, key: string, none: string): ReturnType<Check> {
  if (path === undefined) return { verdict: 'not-applicable', detail: none };
  try {
    await readSecret(path, key);
    return { verdict: 'ok', detail: `${path} is readable for its owner only` };
  } catch (error) {
    return wrong(error);
  }
}

async function checkHeartbeatKey({ fleet }: Site): ReturnType<Check> {
  if (fleet === undefined) {
    return { verdict: 'not-applicable', detail: 'none is configured, so no heartbeat is sent or received' };
  }
  try {
    const { signing } = await readKeyRing(fleet);
    return { verdict: 'ok', detail: `${fleet.keyFile} holds key ${keyName(signing)}, readable for its owner only` };
  } catch (error) {
    return wrong(error);
  }
}

async function checkIdentity({ enrolment, chassis }: Site): ReturnType<Check> {
  if (enrolment === undefined) {
    return {
      verdict: 'not-applicable',
      detail: 'no enrolment is configured, so this device has no identity in the cloud',
    };
  }
  const { identityDir } = enrolment;
  try {
    const problem = await identityFolderProblem(identityDir);
    if (problem) return { verdict: 'wrong', detail: `${identityDir}: ${problem.text}`, remedy: problem.remedy };
    const identity = await loadIdentity(identityDir);
    if (identity === null) {
      return {
        verdict: 'not-checked',
        detail: 'this device is not enrolled yet',
        remedy: 'Enrol it once: `gw enrol`.',
      };
    }
    if (identity.serial !== chassis.serial) {
      const detail = `${identityDir} holds the identity of ${identity.serial}, not of ${chassis.serial}`;
      return { verdict: 'wrong', detail, remedy: 'Find out first which of the two serial numbers this device has.' };
    }
    return { verdict: 'ok', detail: `enrolled as ${identity.serial}; \`gw enrol status\` prints its validity` };
  } catch (error) {
    return wrong(error);
  }
}

async function checkEvidence(site: Site): ReturnType<Check> {
  try {
    const records = await loadEvidenceFile(site.evidenceFile);
    const unknown = records.find((record) => findFact(record.fact) === undefined);
    if (unknown) {
      const guess = nearest(
        unknown.fact,
        facts.map(({ id }) => id),
      );
      const detail = `${site.evidenceFile} has an entry for the unknown fact '${unknown.fact}'`;
      return {
        verdict: 'wrong',
        detail,
        remedy: guess === undefined ? 'List the ids with `gw evidence list`.' : `Did you mean ${guess}?`,
      };
    }
    if (records.length === 0) {
      return {
        verdict: 'not-applicable',
        detail: `${site.evidenceFile} is empty: no fact was verified on this device yet`,
      };
    }
    const here = records.filter(({ serial }) => serial === site.chassis.serial).length;
    return {
      verdict: 'ok',
      detail: `${plural(records.length, 'record')}, ${here} of them for ${site.chassis.serial}`,
    };
  } catch (error) {
    return wrong(error);
  }
}

/** Which of the facts that orders rely on have an entry of this serial number; only the chassis reports its software. */
async function checkRequired(site: Site): ReturnType<Check> {
  if (!site.motion.requireVerified) {
    return {
      verdict: 'not-applicable',
      detail:
        'motion.requireVerified is not set: facts that are BELEGT (measured) on another device or version are sufficient for orders',
    };
  }
  const records = await loadEvidenceFile(site.evidenceFile).catch(() => []);
  const ids = [...new Set<string>(Object.values(factsOfOrder).flat())];
  const missing = ids.filter(
    (id) => !records.some(({ fact, serial }) => fact === id && serial === site.chassis.serial),
  );
  if (missing.length > 0) {
    return {
      verdict: 'not-checked',
      detail: `motion.requireVerified is set, and ${site.chassis.serial} has no entry for ${missing.join(', ')}: orders that rely on it are refused`,
      remedy: 'Verify each and record it: `gw evidence record FACT --holds --how "…" --who "…"`.',
    };
  }
  return {
    verdict: 'not-checked',
    detail: `motion.requireVerified is set, and all ${ids.length} facts have an entry; \`gw chassis probe\` compares it with the current software`,
  };
}

async function checkStateFolder({ stateDir }: Site): ReturnType<Check> {
  const problem = await folderProblem(stateDir).catch(() => null);
  if (problem !== null) return { verdict: 'wrong', detail: `${stateDir}: ${problem.text}`, remedy: problem.remedy };
  return checkFolder(stateDir, 'stateDir');
}

/** The limits of orders in one line; a required sign-in without a password is an error. */
async function checkOrders({ motion, operator }: Site): ReturnType<Check> {
  const detail = [
    `a move is cancelled after ${motion.moveLimitS} s`,
    motion.unownedMove === 'cancel'
      ? 'a move from before the start is cancelled'
      : 'a move from before the start continues, and the gate stays closed until it ends',
    operator.tourNeedsSignIn ? 'tours and drives require sign-in' : 'tours and drives require no sign-in',
  ].join('; ');
  if (!operator.tourNeedsSignIn || operator.passwordFile !== undefined) return { verdict: 'ok', detail };
  return {
    verdict: 'wrong',
    detail: `${detail}; but no device password is configured, so sign-in on a tablet is impossible`,
    remedy: 'Set one with `gw operator password` and name its file as operator.passwordFile.',
  };
}

async function checkFolder(path: string, key: string): ReturnType<Check> {
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isDirectory()) {
    return { verdict: 'wrong', detail: `${path} is not a folder`, remedy: `Name a folder in ${key}.` };
  }
  const existing = there ? path : await firstExisting(path);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch {
    return {
      verdict: 'wrong',
      detail: `this user may not write to ${existing}`,
      remedy: `Make ${existing} writable for the user that runs gw.`,
    };
  }
  return { verdict: 'ok', detail: there ? `${path} is writable` : `${path} will be created when needed` };
}

async function firstExisting(path: string): Promise<string> {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (await stat(folder).catch(() => undefined)) return folder;
  }
  return '/';
}

function wrong(error: unknown): { verdict: 'wrong'; detail: string; remedy: string } {
  if (!(error instanceof GwError)) throw error;
  return { verdict: 'wrong', detail: error.message, remedy: error.remedy };
}
