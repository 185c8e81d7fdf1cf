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
type Judged = Pick<Finding, 'verdict' | 'detail' | 'remedy'>;
/** An error that it throws is its finding. */
type Check = (site: Site) => Promise<Judged>;

const ok = (detail: string): Judged => ({ verdict: 'ok', detail, remedy: null });
const wrong = (detail: string, remedy: string): Judged => ({ verdict: 'wrong', detail, remedy });
const open = (detail: string, remedy: string | null = null): Judged => ({ verdict: 'not-checked', detail, remedy });
const notApplicable = (detail: string): Judged => ({ verdict: 'not-applicable', detail, remedy: null });

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
    const findings = checks.map(({ id, title }) => ({ id, title, ...open('the site file is invalid') }));
    return { path, valid: false, verdict: 'wrong', errors: problems.length, problems, findings, completeFor: [] };
  }
  const findings: Finding[] = [];
  for (const { id, title, check } of checks) findings.push({ id, title, ...(await check(site).catch(asFinding)) });
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

function asFinding(error: unknown): Judged {
  if (!(error instanceof GwError)) throw error;
  return wrong(error.message, error.remedy);
}

async function checkSecret(path: string | undefined, key: string, none: string): Promise<Judged> {
  if (path === undefined) return notApplicable(none);
  await readSecret(path, key);
  return ok(`${path} is readable for its owner only`);
}

async function checkHeartbeatKey({ fleet }: Site): Promise<Judged> {
  if (fleet === undefined) return notApplicable('none is configured, so no heartbeat is sent or received');
  const { signing } = await readKeyRing(fleet);
  return ok(`${fleet.keyFile} holds key ${keyName(signing)}, readable for its owner only`);
}

async function checkIdentity({ enrolment, chassis }: Site): Promise<Judged> {
  if (enrolment === undefined) {
    return notApplicable('no enrolment is configured, so this device has no identity in the cloud');
  }
  const { identityDir } = enrolment;
  const problem = await identityFolderProblem(identityDir);
  if (problem) return wrong(`${identityDir}: ${problem.text}`, problem.remedy);
  const identity = await loadIdentity(identityDir);
  if (identity === null) return open('this device is not enrolled yet', 'Enrol it once: `gw enrol`.');
  if (identity.serial !== chassis.serial) {
    const detail = `${identityDir} holds the identity of ${identity.serial}, not of ${chassis.serial}`;
    return wrong(detail, 'Find out first which of the two serial numbers this device has.');
  }
  return ok(`enrolled as ${identity.serial}; \`gw enrol status\` prints its validity`);
}

async function checkEvidence({ evidenceFile, chassis }: Site): Promise<Judged> {
  const records = await loadEvidenceFile(evidenceFile);
  const unknown = records.find((record) => findFact(record.fact) === undefined);
  if (unknown) {
    const ids = facts.map(({ id }) => id);
    const guess = nearest(unknown.fact, ids);
    const remedy = guess === undefined ? 'List the ids with `gw evidence list`.' : `Did you mean ${guess}?`;
    return wrong(`${evidenceFile} has an entry for the unknown fact '${unknown.fact}'`, remedy);
  }
  if (records.length === 0) return notApplicable(`${evidenceFile} is empty: no fact was verified on this device yet`);
  const here = records.filter(({ serial }) => serial === chassis.serial).length;
  return ok(`${plural(records.length, 'record')}, ${here} of them for ${chassis.serial}`);
}

/** Which of the facts that orders rely on have an entry of this serial number; only the chassis reports its software. */
async function checkRequired({ motion, evidenceFile, chassis: { serial } }: Site): Promise<Judged> {
  if (!motion.requireVerified) {
    return notApplicable(
      'motion.requireVerified is not set: facts that are BELEGT (measured) on another device or version are sufficient for orders',
    );
  }
  const records = await loadEvidenceFile(evidenceFile).catch(() => []);
  const ids = [...new Set<string>(Object.values(factsOfOrder).flat())];
  const missing = ids.filter((id) => !records.some((record) => record.fact === id && record.serial === serial));
  return missing.length > 0
    ? open(
        `motion.requireVerified is set, and ${serial} has no entry for ${missing.join(', ')}: orders that rely on it are refused`,
        'Verify each and record it: `gw evidence record FACT --holds --how "…" --who "…"`.',
      )
    : open(
        `motion.requireVerified is set, and all ${ids.length} facts have an entry; \`gw chassis probe\` compares it with the current software`,
      );
}

async function checkStateFolder({ stateDir }: Site): Promise<Judged> {
  const problem = await folderProblem(stateDir).catch(() => null);
  return problem === null ? checkFolder(stateDir, 'stateDir') : wrong(`${stateDir}: ${problem.text}`, problem.remedy);
}

/** The limits of orders in one line; a required sign-in without a password is an error. */
async function checkOrders({ motion, operator }: Site): Promise<Judged> {
  const detail = [
    `a move is cancelled after ${motion.moveLimitS} s`,
    motion.unownedMove === 'cancel'
      ? 'a move from before the start is cancelled'
      : 'a move from before the start continues, and the gate stays closed until it ends',
    operator.tourNeedsSignIn ? 'tours and drives require sign-in' : 'tours and drives require no sign-in',
  ].join('; ');
  if (!operator.tourNeedsSignIn || operator.passwordFile !== undefined) return ok(detail);
  return wrong(
    `${detail}; but no device password is configured, so sign-in on a tablet is impossible`,
    'Set one with `gw operator password` and name its file as operator.passwordFile.',
  );
}

async function checkFolder(path: string, key: string): Promise<Judged> {
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isDirectory()) return wrong(`${path} is not a folder`, `Name a folder in ${key}.`);
  const existing = there ? path : await firstExisting(path);
  try {
    await access(existing, constants.W_OK | constants.X_OK);
  } catch {
    return wrong(`this user may not write to ${existing}`, `Make ${existing} writable for the user that runs gw.`);
  }
  return ok(there ? `${path} is writable` : `${path} will be created when needed`);
}

async function firstExisting(path: string): Promise<string> {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if (await stat(folder).catch(() => undefined)) return folder;
  }
  return '/';
}
