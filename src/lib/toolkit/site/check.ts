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
import type { SiteCheck } from './check.result.ts';

type Finding = SiteCheck['findings'][number];
type Check = (site: Site) => Promise<Pick<Finding, 'verdict' | 'detail'> & { readonly remedy?: string }>;

/** What stands outside the site file but must be sound for it to work. */
const checks: readonly { readonly id: string; readonly title: string; readonly check: Check }[] = [
  {
    id: 'operator-password',
    title: 'device password',
    check: (site) =>
      checkSecret(site.operator.passwordFile, 'operator.passwordFile', 'none is set up, so nobody can sign in'),
  },
  {
    id: 'chassis-secret',
    title: 'secret of the chassis',
    check: (site) => checkSecret(site.chassis.secretFile, 'chassis.secretFile', 'none is set up, so none is sent'),
  },
  { id: 'heartbeat-key', title: 'key of the heartbeat', check: checkHeartbeatKey },
  { id: 'identity', title: 'identity in the cloud', check: checkIdentity },
  { id: 'evidence-file', title: 'evidence file', check: checkEvidence },
  { id: 'require-verified', title: 'verifications that orders need', check: checkRequired },
  { id: 'orders', title: 'what bounds orders', check: checkOrders },
  { id: 'state-folder', title: 'state folder', check: checkStateFolder },
  {
    id: 'media-folder',
    title: 'media folder',
    check: (site) => checkFolder(site.operator.mediaDir, 'operator.mediaDir'),
  },
];

/**
 * Checks a site file and everything it names on this machine; nothing is dialled. Problems are the result, not an
 * error. Throws SITE_FILE_NOT_FOUND.
 */
export async function checkSite(path: string): Promise<SiteCheck> {
  const site = await loadSite(path).catch(asProblems);
  if (Array.isArray(site)) {
    const problems = site.map(({ path: key, file: _file, ...problem }) => ({ key, ...problem }));
    const findings = checks.map(({ id, title }) => notChecked(id, title));
    return { path, sound: false, errors: problems.length, problems, findings };
  }
  const findings: Finding[] = [];
  for (const { id, title, check } of checks) findings.push({ id, title, remedy: null, ...(await check(site)) });
  const errors = findings.filter(({ verdict }) => verdict === 'wrong').length;
  return { path, sound: errors === 0, errors, problems: [], findings };
}

function asProblems(error: unknown): Problem[] {
  if (!(error instanceof GwError)) throw error;
  if (error.code === 'SITE_FILE_NOT_FOUND') {
    throw new GwError(error.code, error.message, {
      remedy: 'Name it: gw site check FILE. Make one: gw site init FILE.',
    });
  }
  if (error.code !== 'SITE_FILE_INVALID') throw error;
  const problems = error.details?.problems;
  if (Array.isArray(problems)) return problems as Problem[];
  // The file could not be opened at all: one problem of the file as a whole.
  return [
    {
      file: '',
      line: null,
      column: null,
      path: '',
      found: error.message,
      expected: 'a file that can be read',
      suggestion: null,
    },
  ];
}

function notChecked(id: string, title: string): Finding {
  return { id, title, verdict: 'not-checked', detail: 'the site file must be sound first', remedy: null };
}

async function checkSecret(path: string | undefined, key: string, none: string): ReturnType<Check> {
  if (path === undefined) return { verdict: 'not-checked', detail: none };
  try {
    await readSecret(path, key);
    return { verdict: 'ok', detail: `${path} is readable for its owner only` };
  } catch (error) {
    return wrong(error);
  }
}

async function checkHeartbeatKey({ fleet }: Site): ReturnType<Check> {
  if (fleet === undefined) {
    return { verdict: 'not-checked', detail: 'none is set up, so no heartbeat is sent or received' };
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
    return { verdict: 'not-checked', detail: 'no enrolment is set up, so this device has no identity in the cloud' };
  }
  const { identityDir } = enrolment;
  try {
    const problem = await identityFolderProblem(identityDir);
    if (problem) return { verdict: 'wrong', detail: `${identityDir}: ${problem.text}`, remedy: problem.remedy };
    const identity = await loadIdentity(identityDir);
    if (identity === null) {
      return { verdict: 'not-checked', detail: 'this device is not enrolled yet', remedy: 'Enrol it once: gw enrol.' };
    }
    if (identity.serial !== chassis.serial) {
      const detail = `${identityDir} holds the identity of ${identity.serial}, not of ${chassis.serial}`;
      return { verdict: 'wrong', detail, remedy: 'Find out which of the two this device is before anything else.' };
    }
    return { verdict: 'ok', detail: `enrolled as ${identity.serial}; gw enrol status says how long it is valid` };
  } catch (error) {
    return wrong(error);
  }
}

async function checkEvidence(site: Site): ReturnType<Check> {
  try {
    const records = await loadEvidenceFile(site.evidenceFile);
    const stranger = records.find((record) => findFact(record.fact) === undefined);
    if (stranger) {
      const guess = nearest(
        stranger.fact,
        facts.map(({ id }) => id),
      );
      const detail = `${site.evidenceFile} has a record about '${stranger.fact}', which is no fact of the ledger`;
      return {
        verdict: 'wrong',
        detail,
        remedy: guess === undefined ? 'List the ids with `gw evidence list`.' : `Did you mean ${guess}?`,
      };
    }
    if (records.length === 0) {
      return {
        verdict: 'not-checked',
        detail: `${site.evidenceFile} has no record: nothing was verified on this device yet`,
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

/** Which of the facts that orders rely on have a record of this serial number; its software only the chassis knows. */
async function checkRequired(site: Site): ReturnType<Check> {
  if (!site.motion.requireVerified) {
    return {
      verdict: 'not-checked',
      detail: 'motion.requireVerified is not set: what is BELEGT from another device or version carries orders here',
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
      detail: `motion.requireVerified is set, and nothing was recorded for ${site.chassis.serial} about ${missing.join(', ')}: orders that rely on it are refused`,
      remedy: 'Verify each and write it down: gw evidence record FACT --holds --how "…" --who "…".',
    };
  }
  return {
    verdict: 'not-checked',
    detail: `motion.requireVerified is set, and all ${ids.length} facts have a record; whether it is of the present software, gw chassis probe says`,
  };
}

async function checkStateFolder({ stateDir }: Site): ReturnType<Check> {
  const problem = await folderProblem(stateDir).catch(() => null);
  if (problem !== null) return { verdict: 'wrong', detail: `${stateDir}: ${problem.text}`, remedy: problem.remedy };
  return checkFolder(stateDir, 'stateDir');
}

/** What the site file says of orders, in one line; a required sign-in without a password is a mistake. */
async function checkOrders({ motion, operator }: Site): ReturnType<Check> {
  const detail = [
    `a move is cancelled after ${motion.moveLimitS} s`,
    motion.unownedMove === 'cancel'
      ? 'a move left from before the start is cancelled'
      : 'a move left from before the start is left alone, and the gate stays closed beside it',
    operator.tourNeedsSignIn ? 'tours and drives need a signed-in person' : 'tours and drives need no sign-in',
  ].join('; ');
  if (!operator.tourNeedsSignIn || operator.passwordFile !== undefined) return { verdict: 'ok', detail };
  return {
    verdict: 'wrong',
    detail: `${detail}; but no device password is set up, so signing in on a tablet is impossible`,
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
      remedy: `Give ${existing} to the user that runs gw.`,
    };
  }
  return { verdict: 'ok', detail: there ? `${path} is there and writable` : `${path} will be made when it is needed` };
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
